// Package previewtest drives a second browser, in which tests try the preview's frame.
package previewtest

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

// Firefox is a real one, driven by its own protocol, Marionette: each message is a
// JSON array after its length.
type Firefox struct {
	testing.TB
	conn   net.Conn
	reader *bufio.Reader
	id     int
}

// patience is how long Firefox may take for anything.
const patience = 2 * time.Minute

// NewFirefox starts Firefox, or skips the test where it is not installed, which no
// variable forbids.
func NewFirefox(t testing.TB) *Firefox {
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
	prefs := "user_pref(\"marionette.port\", 0);\nuser_pref(\"app.update.disabledForTesting\", " +
		"true);\nuser_pref(\"datareporting.policy.dataSubmissionEnabled\", false);\n"
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--marionette", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &Firefox{TB: t}
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
	f.Call("WebDriver:NewSession", map[string]any{"capabilities": map[string]any{}})
	return f
}

// connect waits until Firefox says at which port it listens.
func (f *Firefox) connect(portFile string) {
	f.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
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
	f.reader = bufio.NewReader(f.conn)
	f.receive() // its greeting
}

func (f *Firefox) send(command string, parameters map[string]any) error {
	f.id++
	message, err := json.Marshal([]any{0, f.id, command, parameters})
	if err == nil {
		_, err = fmt.Fprintf(f.conn, "%d:%s", len(message), message)
	}
	return err
}

func (f *Firefox) receive() []byte {
	f.Helper()
	_ = f.conn.SetDeadline(time.Now().Add(patience)) // of one answer: a test may ask for hundreds
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

// Call sends a command and returns its result.
func (f *Firefox) Call(command string, parameters map[string]any) jsontext.Value {
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

// Visit loads a page.
func (f *Firefox) Visit(url string) {
	f.Helper()
	f.Call("WebDriver:Navigate", map[string]any{"url": url})
}

// Script runs statements that may return a value, which is the result as JSON.
func (f *Firefox) Script(statements string) string {
	f.Helper()
	var result struct{ Value jsontext.Value }
	raw := f.Call("WebDriver:ExecuteScript", map[string]any{"script": statements, "args": []any{}, "sandbox": nil})
	if err := json.Unmarshal(raw, &result, json.MatchCaseInsensitiveNames(true)); err != nil {
		f.Fatal(err)
	}
	return string(result.Value)
}

// Await waits until an expression is true, after some statements.
func (f *Firefox) Await(statements, expression string) {
	f.Helper()
	script := statements + "try { return Boolean(" + expression + ") } catch { return false }"
	for end := time.Now().Add(patience / 2); f.Script(script) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("waiting for %s in %s", expression, f.Script("return document.body.innerText"))
		}
	}
}
