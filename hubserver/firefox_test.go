package hubserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// firefox is a real Firefox, driven by its own protocol, Marionette: each message is a
// JSON array after its length.
type firefox struct {
	*testing.T
	conn   net.Conn
	reader *bufio.Reader
	id     int
}

// firefoxPatience is how long Firefox may take for anything.
const firefoxPatience = 2 * time.Minute

// newFirefox starts Firefox, or skips the test where it is not installed, which no
// variable forbids.
func newFirefox(t *testing.T) *firefox {
	t.Helper()
	path := ""
	for _, name := range []string{"firefox", "firefox-esr"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skip("needs Firefox, as of apt-get install firefox-esr")
	}
	profile := t.TempDir()
	prefs := "user_pref(\"marionette.port\", 0);\nuser_pref(\"app.update.disabledForTesting\", true);\nuser_pref(\"datareporting.policy.dataSubmissionEnabled\", false);\n"
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--marionette", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &firefox{T: t}
	t.Cleanup(func() {
		if f.conn != nil {
			_ = f.send("Marionette:Quit", map[string]any{"flags": []string{"eForceQuit"}})
			f.conn.Close()
		} else {
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
	})
	f.connect(filepath.Join(profile, "MarionetteActivePort"))
	f.call("WebDriver:NewSession", map[string]any{"capabilities": map[string]any{}})
	return f
}

// connect waits until Firefox says at which port it listens.
func (f *firefox) connect(portFile string) {
	f.Helper()
	for end := time.Now().Add(firefoxPatience); ; time.Sleep(50 * time.Millisecond) {
		port, err := os.ReadFile(portFile)
		if err == nil {
			f.conn, err = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		}
		if err == nil {
			break
		}
		if time.Now().After(end) {
			f.Fatalf("Firefox does not listen: %v", err)
		}
	}
	_ = f.conn.SetDeadline(time.Now().Add(firefoxPatience))
	f.reader = bufio.NewReader(f.conn)
	f.receive() // its greeting
}

func (f *firefox) send(command string, parameters map[string]any) error {
	f.id++
	message, err := json.Marshal([]any{0, f.id, command, parameters})
	if err == nil {
		_, err = fmt.Fprintf(f.conn, "%d:%s", len(message), message)
	}
	return err
}

func (f *firefox) receive() []byte {
	f.Helper()
	digits, err := f.reader.ReadString(':')
	if err != nil {
		f.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(digits, ":"))
	if err != nil {
		f.Fatal(err)
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(f.reader, message); err != nil {
		f.Fatal(err)
	}
	return message
}

// call sends a command and returns its result.
func (f *firefox) call(command string, parameters map[string]any) jsontext.Value {
	f.Helper()
	if err := f.send(command, parameters); err != nil {
		f.Fatal(err)
	}
	var response [4]jsontext.Value // a kind, the command's number, an error, a result
	if err := json.Unmarshal(f.receive(), &response); err != nil {
		f.Fatal(err)
	}
	if failure := string(response[2]); failure != "null" {
		f.Fatalf("%s: %.1000s", command, failure)
	}
	return response[3]
}

func (f *firefox) visit(url string) {
	f.Helper()
	f.call("WebDriver:Navigate", map[string]any{"url": url})
}

// script runs statements that may return a value, with the hands of the other browser.
func (f *firefox) script(statements string, args ...any) string {
	f.Helper()
	var result struct{ Value jsontext.Value }
	raw := f.call("WebDriver:ExecuteScript", map[string]any{"script": hands + paneHands + fmt.Sprintf(statements, args...), "args": []any{}, "sandbox": nil})
	if err := json.Unmarshal(raw, &result, json.MatchCaseInsensitiveNames(true)); err != nil {
		f.Fatal(err)
	}
	return string(result.Value)
}

// await waits until an expression is true.
func (f *firefox) await(expression string, args ...any) {
	f.Helper()
	expression = fmt.Sprintf(expression, args...)
	for end := time.Now().Add(firefoxPatience / 2); f.script("%s", "try { return Boolean("+expression+") } catch { return false }") != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("waiting for %s in %s", expression, f.script("return document.body.innerText"))
		}
	}
}

// press types keys into the field of a key, as a user does.
func (f *firefox) press(key, text string) {
	f.Helper()
	var found struct{ Value map[string]string }
	raw := f.call("WebDriver:FindElement", map[string]any{"using": "css selector", "value": fmt.Sprintf(`[data-key=%q] .value > :is(input, textarea)`, key)})
	if err := json.Unmarshal(raw, &found, json.MatchCaseInsensitiveNames(true)); err != nil {
		f.Fatal(err)
	}
	for _, id := range found.Value {
		f.call("WebDriver:ElementSendKeys", map[string]any{"id": id, "text": text})
	}
}

// It runs before the parallel tests: a second browser at the same time takes too long.
func TestFirefox_EditsAndPreviews(t *testing.T) {
	hub := previewHub(t)
	hub.settings(`{"title": "First"}`)
	f := newFirefox(t)
	f.visit(hub.url + "/sign-in")
	name, value, _ := strings.Cut(hub.session("alice").cookie, "=")
	f.call("WebDriver:AddCookie", map[string]any{"cookie": map[string]any{"name": name, "value": value, "path": "/", "httpOnly": true, "sameSite": "Lax"}})
	f.visit(hub.url + "/@acme/web")
	f.await(`editor.dataset.ready === "true"`)
	f.script(`window.refused = []; addEventListener("securitypolicyviolation", e => refused.push(e.violatedDirective + e.blockedURI));` + hear)
	f.script(`press("Live preview")`)
	f.await(`pane.dataset.state === "painted" && shows() === "shows First"`)
	f.press("title", " and last")
	f.await(`shows() === "shows First and last" && part("changes").innerText.includes("This edit changes 1 of 3 generated files")`)
	hub.wantConfig(`{"title":"First"}`)
	f.script(`press("Review and save")`)
	f.await(`dialog().querySelector(".generated summary")`)
	f.script(`press("Save", dialog())`)
	f.await(`notes().some(n => n.startsWith("Saved: 1 changed."))`)
	hub.wantConfig(`{"title":"First and last"}`)
	hub.settings(`{"title": "Theirs"}`)
	f.await(`shows() === "shows Theirs" && field("title").value === "Theirs"`)
	if refused := f.script(`return refused`); refused != "[]" {
		t.Errorf("the page's policy refused %s", refused)
	}
	f.visit(hub.url + "/@acme/web/preview")
	f.await(`pane.dataset.state === "painted"`)
}
