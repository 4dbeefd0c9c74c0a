//go:build unix

package golden_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// hostileText sets a terminal's title, its clipboard, and the direction of writing.
const hostileText = "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x1b\\\u009b2J\u202egnp.exe"

// hostileWorld returns a world whose workspace and hub have hostileText wherever
// they can have text.
func hostileWorld(t *testing.T) *world {
	t.Helper()
	w := newLocal(t, `{"title": "Pets"}`)
	quoted, err := json.Marshal(hostileText)
	if err != nil {
		t.Fatal(err)
	}
	w.write(clientJSON, `{"source": `+string(quoted)+`, "settings": {"title": `+string(quoted)+`}}`+"\n")
	w.write(".tool/"+strings.ReplaceAll(hostileText, "/", "")+"/client.json",
		`{"settings": {}, "project": `+string(quoted)+`}`+"\n")
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		answer := httptest.NewRecorder()
		hub.ServeHTTP(answer, r)
		body := answer.Body.String()
		if r.URL.Path == "/v1/whoami" || strings.HasPrefix(r.URL.Path, "/v1/stacks") { // whose names and versions are valid
			for _, member := range []string{"account", "tokenName", "publishedBy"} {
				body = strings.ReplaceAll(body, `"`+member+`":"`, `"`+member+`":"`+string(quoted[1:len(quoted)-1]))
			}
			body = strings.ReplaceAll(body, `"write:catalog"`, string(quoted))
		}
		for name, values := range answer.Header() {
			if name != "Content-Length" {
				rw.Header()[name] = values
			}
		}
		rw.WriteHeader(answer.Code)
		rw.Write([]byte(body))
	})
	return w
}

func TestTerminal_IsNotActedOnByNamesAndTexts(t *testing.T) {
	t.Parallel()
	w := hostileWorld(t)
	for _, mode := range []string{"ACCESSIBLE=0", "ACCESSIBLE=1"} {
		for _, args := range [][]string{
			nil, {"status"}, {"project", "create"}, {"project", "create", "--from", "web"}, {"push", "web"}, {"push"},
			{"publish"},
			{"login", "--origin", w.origin, "--token", w.token}, {"project", "view"}, {"project", "rm", hostileText},
			{"push", "--project", hostileText, "web"}, {"init", hostileText}, {hostileText}, {"push", "--" + hostileText},
		} {
			c := w.command(args...)
			c.Env = append(c.Env, mode)
			term := open(t, c, usual, false)
			term.until("asks or has ended", func(screen string) bool {
				signs := []string{"ctrl-c", "(default", "q quit", "error:", "Logged in", "published already", "Hub "}
				return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(screen, sign) })
			})
			term.press(ctrlC)
			term.end()
			if out := term.output(); strings.Contains(out, "\x1b]") ||
				strings.ContainsFunc(strings.ToValidUTF8(out, "\u009b"),
					func(r rune) bool { return r != '\r' && r != '\b' && r != '\x1b' && acted(r) }) {
				t.Errorf("tool %q writes to the terminal: %q", args, out)
			}
		}
	}
}
