//go:build unix

package golden_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

var (
	times    = regexp.MustCompile(`[0-9]+\.[0-9] s\b`)
	spinners = regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧]`)
	requests = regexp.MustCompile(`(request: )[a-z0-9]+`)
)

// steps compares a screen with what differs from run to run made equal.
func (w *world) steps(term *terminal, name string) {
	w.t.Helper()
	text := strings.NewReplacer(w.hub.origin, "http://hub.example.com", w.origin, "http://hub.example.com").Replace(
		term.text())
	text = times.ReplaceAllString(text, "# s")
	text = spinners.ReplaceAllString(text, "⠋")
	text = requests.ReplaceAllString(text, "${1}#")
	golden(w.t, "screen/"+name+".txt", text)
}

// turns waits until the line that is redrawn shows text, in it or below it, and is drawn to
// its end, after which the cursor is at its beginning.
func (term *terminal) turns(text string) {
	term.t.Helper()
	term.until("shows "+text+" behind the cursor", func(screen string) bool {
		cursor := term.screen.Cursor()
		lines := strings.Split(screen, "\n")[cursor.Y:]
		return cursor.X == 0 && spinners.MatchString(lines[0]) && strings.Contains(strings.Join(lines, "\n"), text)
	})
}

// sizes are those at which screens are held, by the suffix of their names.
var sizes = map[string]size{"": usual, "-narrow": narrow}

func TestChecklist_ShowsAndLeavesSteps(t *testing.T) {
	t.Parallel()
	for suffix, s := range sizes {
		for _, env := range []string{"NO_COLOR=1", "NO_COLOR="} {
			w := newWorld(t, before)
			command := w.command("project", "create", "shop")
			command.Env = append(command.Env, env)
			term := open(t, command, s, false)
			term.ends(0)
			if found := colour.FindString(term.output()); (found == "") != (env == "NO_COLOR=1") {
				t.Errorf("%s: %q", env, found)
			}
			w.steps(term, "create"+suffix)
		}
	}
}

func TestChecklist_MarksFailedStep(t *testing.T) {
	t.Parallel()
	const stackJSON = ".tool/web/stack.json"
	for stage, c := range map[string]struct {
		prepare func(w *world)
		args    []string
	}{
		"read":   {func(*world) {}, []string{"Not a slug"}},
		"stack":  {func(w *world) { w.write(stackJSON, `{"name": "web", "version": "1.0.0"}`) }, []string{"web"}},
		"api":    {func(w *world) { w.write("openapi.json", `{"openapi": "3.1.0"}`) }, []string{"web"}},
		"create": {func(w *world) { w.must("project", "create", "web") }, []string{"web"}},
		"unpublished": {func(w *world) {
			w.write(stackJSON, `{"name": "@alice/other", "version": "1.0.0"}`)
		}, []string{"web"}},
		"seed":   {func(w *world) { w.refuse("/client-config") }, []string{"web"}},
		"record": {(*world).breakClient, []string{"web"}},
		"files": {func(w *world) {
			w.write("index.html", "<p>Hello</p>\n")
			w.refuse("/preview/base-files/plan", "/preview/base-files")
		}, []string{"web", "--base-files"}},
	} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			for suffix, s := range sizes {
				w := newLocal(t, before)
				c.prepare(w)
				term := w.open(s, append([]string{"project", "create"}, c.args...)...)
				term.ends(1)
				w.steps(term, "create-"+stage+suffix)
			}
		})
	}
}

func TestChecklist_SaysBelowAStepWhyItWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	var isDown atomic.Bool
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if isDown.Load() {
			panic(http.ErrAbortHandler) // as a hub that is being restarted
		}
		hub.ServeHTTP(rw, r)
	})
	isDown.Store(true)
	term := w.open(narrow, "project", "create", "shop")
	term.turns("trying again until")
	if screen := regexp.MustCompile(`\s+`).ReplaceAllString(term.text(), " "); !strings.Contains(screen,
		"check the project") ||
		!strings.Contains(screen, w.origin+" ") ||
		strings.Index(screen, "trying again") < strings.Index(screen, "check the project") {
		t.Errorf("it shows\n%s", term.text())
	}
	isDown.Store(false)
	term.ends(0)
	if text := term.text(); strings.Contains(text, "trying again") || strings.Contains(text, "warning:") {
		t.Errorf("it leaves behind\n%s", text)
	}
}

// refuse makes the hub refuse what is sent to addresses with these ends.
func (w *world) refuse(ends ...string) {
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		for _, end := range ends {
			if strings.HasSuffix(r.URL.Path, end) && r.Method != http.MethodGet {
				rw.Header().Set("Hub-Version", "1")
				rw.Header().Set("Content-Type", "application/problem+json")
				rw.WriteHeader(http.StatusInsufficientStorage)
				rw.Write(
					[]byte(`{"status": 507, "code": "storage_full", "detail": "the hub has no room left", "requestId": "abc"}`))
				return
			}
		}
		hub.ServeHTTP(rw, r)
	})
}

func TestChecklist_ShowsTransferInPlaceOfStep(t *testing.T) {
	t.Parallel()
	for suffix, s := range sizes {
		w := newLocal(t, before)
		w.noise(24, 1<<20)
		open := w.slow()
		term := w.open(s, "project", "create", "web", "--base-files")
		term.turns("uploading")
		term.turns(" left")
		golden(t, "screen/create-transfer"+suffix+".txt", spinners.ReplaceAllString(halfway(term.text()), "⠋"))
		open()
		term.ends(0)
		if text := term.text(); strings.Contains(text, "uploading") || !strings.Contains(text, "✓ update client.json") ||
			!strings.Contains(text, "base files   25\n") {
			t.Errorf("the screen at the end:\n%s", text)
		}
	}
}

func TestChecklist_InterruptedCreateSaysWhere(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	w.noise(24, 1<<20)
	w.slow()
	term := w.open(usual, "project", "create", "web", "--base-files")
	term.turns("uploading")
	term.press(ctrlC)
	term.ends(130)
	w.steps(term, "create-interrupted")
}

func TestChecklist_InterruptedBeforehandLeavesScreenInOrder(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if r.URL.RawQuery == "dryRun=1" {
			hold(r)
		}
		hub.ServeHTTP(rw, r)
	})
	term := w.open(usual, "project", "create", "web")
	term.turns("check the project")
	term.press(ctrlC)
	term.ends(130)
	w.steps(term, "create-interrupted-beforehand")
}

func TestChecklist_PlainWritesEachStepOnce(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"plain-create": 0, "plain-create-failed": 1} {
		for _, env := range []string{"TERM=dumb", "ACCESSIBLE=1"} {
			w := newLocal(t, before)
			if code != 0 {
				w.must("project", "create", "web")
			}
			command := w.command("project", "create", "web")
			command.Env = append(command.Env, env)
			term := open(t, command, usual, false)
			term.ends(code)
			w.steps(term, name)
			if out := term.output(); strings.Contains(out, escape) {
				t.Errorf("%s: an escape code: %q", env, out)
			}
		}
	}
}

// An API and a project that client.json names are neither registered nor recorded.
func TestChecklist_LeavesOutWhatIsNotNeeded(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	w.must("project", "create", "web")
	command := w.command("project", "create", "other")
	command.Env = append(command.Env, "TERM=dumb")
	term := open(t, command, usual, false)
	term.ends(0)
	if text := term.text(); !strings.Contains(text, "Step 2 of 2, upload the config: done") ||
		strings.Contains(text, "register the API") {
		t.Errorf("it says\n%s", text)
	}
}

func TestChecklist_SilentInPipeline(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	for i, flag := range []string{"--no-input", "--json"} {
		term := w.open(usual, "project", "create", []string{"one", "two"}[i], flag)
		term.ends(0)
		if out := term.output(); strings.Contains(out, escape) || strings.Contains(out, "beforehand") {
			t.Errorf("%s: %q", flag, out)
		}
	}
}
