package golden_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs every script in testdata/script against a hub on SQLite, and
// against two hubs that share one PostgreSQL.
//
// A script starts in the directory app of its archive. Its transcript is what a
// user would see: each command line, then what the program printed, JSON with
// line breaks, and the exit code where it is not 0. Beside testscript's own
// commands, a script has:
//
//	tool ARGS…               runs tool; ! expects it to fail. Whatever is printed
//	                         is checked: see check_test.go
//	both ARGS…               runs tool twice, the second time with --json, for a
//	                         command that changes nothing; of a failure's JSON the
//	                         transcript shows what its text does not say
//	recipe                   types the command lines that the last failure advised
//	admin ARGS…              runs a hub command on the script's database
//	transcript               puts the transcript so far on stdout
//	protect FILE…            write-protects files and their directories, for root too
//	unprotect FILE…          ends that
//
//	database                 makes the script's database; hub does, too
//	hub [flags]              starts the script's hub; $ORIGIN is its address
//	hub-restart [flags]      stops it and starts it again on the same database
//	hub-stop                 stops it
//	postgres VAR             puts the address of an empty PostgreSQL database into $VAR
//	move DATABASE            has the hub start on another database
//	other-hub USER           starts another hub, on a database of its own; $OTHER_HUB is its
//	                         address, and $OTHER_TOKEN a token of USER for all that USER may do
//	login USER [SCOPE…]      makes an account, where there is none, and a token,
//	                         puts that into $TOKEN, and logs in with it
//	account NAME [--org]     makes an account
//	token VAR USER [SCOPE…]  makes a token and puts it into $VAR
//	expire VAR               ends the life of the token in $VAR
//	edit TOKEN REF BODY      changes a config through the API, by PATCH
//	call TOKEN METHOD PATH   makes a call of the API with a token, and shows the response
//	submit PATH NAME=VALUE…  sends a form of a page without a session, and shows what
//	                         the page says
//	browse PATH NAME=VALUE…  is submit in the script's one browser, which keeps its session
//	keep VAR PATTERN         puts the first group of a pattern in the last output into $VAR
//	damage STATEMENT         damages what is stored, by a statement on the script's database
//	expire-links             ends the life of all links
//	fake KIND                starts what is no hub; $FAKE and $KIND are its address, and
//	                         $FAKE_ALLOW are flags that let a hub import from it
func TestScripts(t *testing.T) {
	for _, name := range []string{"sh", "cat", "head"} {
		need(t, name, "the usual programs of a shell, which some scripts run")
	}
	for _, backend := range []struct {
		name  string
		db    database
		count int // of hubs
	}{{"sqlite", sqlite, 1}, {"replicas", postgres, 2}} {
		t.Run(backend.name, func(t *testing.T) {
			if backend.name != "sqlite" {
				postgres(t, "") // skips where there is none
			}
			testscript.Run(t, testscript.Params{
				Dir:                 "testdata/script",
				UpdateScripts:       *update && backend.name == "sqlite",
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Setup: func(e *testscript.Env) error {
					return setup(e, &script{t: e.T().(testing.TB), db: backend.db, count: backend.count})
				},
				Cmds: commands,
				Condition: func(name string) (bool, error) {
					switch name {
					case "required":
						return required(), nil
					case "sqlite":
						return backend.name == "sqlite", nil
					}
					return false, fmt.Errorf("there is no condition %s", name)
				},
			})
		})
	}
	t.Logf("%d command lines that were printed were typed", pastedLines.Load())
}

// script is a script on its way.
type script struct {
	t       testing.TB
	db      database
	count   int
	dir     string // of what the user has outside of the script's workspace
	address string // of the database, once a hub was started
	front   *front // of the hubs
	hubs    []*hub
	other   *front // of other-hub

	browser    http.Client // with the session that a link started
	transcript strings.Builder
	recipe     []string        // of the last failure
	pasted     map[string]bool // command lines that were advised, and tried
	weak       bool            // tool runs without root's power over files
}

func setup(e *testscript.Env, s *script) error {
	e.Values["script"] = s
	s.dir = s.t.TempDir()
	s.browser.Jar, _ = cookiejar.New(nil) // it never fails
	for name, value := range environment(s.dir) {
		e.Setenv(name, value)
	}
	if app := filepath.Join(e.WorkDir, "app"); isDir(app) {
		e.Cd = app
	}
	return nil
}

// environment is what the programs see, apart from the script's own variables:
// nothing of whoever runs the tests.
func environment(dir string) map[string]string {
	return map[string]string{
		"PATH":            programs() + string(os.PathListSeparator) + os.Getenv("PATH"),
		"TOOL_CONFIG_DIR": filepath.Join(dir, "config"),
		"TOOL_STATE_DIR":  filepath.Join(dir, "state"),
		"XDG_CACHE_HOME":  filepath.Join(dir, "cache"),
		"TZ":              "UTC",
		"LANG":            "C.UTF-8",
		"HUB_DB":          "sqlite:" + filepath.Join(dir, "hub.db"),

		"GIT_AUTHOR_NAME": "ci", "GIT_AUTHOR_EMAIL": "ci@example.com",
		"GIT_COMMITTER_NAME": "ci", "GIT_COMMITTER_EMAIL": "ci@example.com",
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

var commands = map[string]func(*testscript.TestScript, bool, []string){
	"tool":   func(ts *testscript.TestScript, neg bool, args []string) { of(ts).tool(ts, neg, args) },
	"both":   func(ts *testscript.TestScript, neg bool, args []string) { of(ts).both(ts, neg, args) },
	"recipe": func(ts *testscript.TestScript, _ bool, _ []string) { of(ts).followRecipe(ts) },
	"admin":  func(ts *testscript.TestScript, neg bool, args []string) { of(ts).admin(ts, neg, args) },
	"transcript": func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Stdout().Write([]byte(of(ts).transcript.String()))
	},
	"protect":   func(ts *testscript.TestScript, _ bool, args []string) { of(ts).protect(ts, args) },
	"unprotect": func(ts *testscript.TestScript, _ bool, args []string) { of(ts).unprotect(ts, args) },

	"hub": func(ts *testscript.TestScript, _ bool, args []string) {
		of(ts).start(ts, strings.Fields(strings.Join(args, " ")))
	},
	"hub-restart": func(ts *testscript.TestScript, _ bool, args []string) {
		of(ts).stop()
		of(ts).start(ts, args)
	},
	"postgres": func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Setenv(args[0], postgres(of(ts).t, ""))
	},
	"move": func(ts *testscript.TestScript, _ bool, args []string) {
		of(ts).address = args[0]
		ts.Setenv("HUB_DB", args[0])
	},
	"other-hub": func(ts *testscript.TestScript, _ bool, args []string) { of(ts).startOther(ts, args[0]) },
	"hub-stop":  func(ts *testscript.TestScript, _ bool, _ []string) { of(ts).stop() },
	"database":  func(ts *testscript.TestScript, _ bool, _ []string) { of(ts).database(ts) },
	"account": func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Check(ts.Exec("hub", append([]string{"account", "create"}, args...)...))
	},
	"token": func(ts *testscript.TestScript, _ bool, args []string) { token(ts, args[0], args[1], args[2:]) },
	"login": func(ts *testscript.TestScript, _ bool, args []string) { login(ts, args[0], args[1:]) },
	"expire": func(ts *testscript.TestScript, _ bool, args []string) {
		expire(of(ts).t, of(ts).address, ts.Getenv(args[0]))
	},
	"damage": func(ts *testscript.TestScript, _ bool, args []string) {
		execute(of(ts).t, of(ts).address, args[0])
	},
	"edit": func(ts *testscript.TestScript, _ bool, args []string) { edit(ts, args[0], args[1], args[2]) },
	"call": func(ts *testscript.TestScript, _ bool, args []string) { of(ts).call(ts, args[0], args[1], args[2]) },
	"submit": func(ts *testscript.TestScript, _ bool, args []string) {
		of(ts).submit(ts, http.DefaultClient, args[0], args[1:])
	},
	"browse": func(ts *testscript.TestScript, _ bool, args []string) {
		of(ts).submit(ts, &of(ts).browser, args[0], args[1:])
	},
	"keep":         func(ts *testscript.TestScript, _ bool, args []string) { keep(ts, args[0], args[1]) },
	"expire-links": func(ts *testscript.TestScript, _ bool, _ []string) { of(ts).expireLinks() },
	"fake": func(ts *testscript.TestScript, _ bool, args []string) {
		address := fake(of(ts).t, args[0])
		ts.Setenv("FAKE", address)
		ts.Setenv(strings.ToUpper(args[0]), address)
		ts.Setenv("FAKE_ALLOW", ts.Getenv("FAKE_ALLOW")+" --import-allow 127.0.0.1/32:"+
			address[strings.LastIndex(address, ":")+1:])
	},
}

func of(ts *testscript.TestScript) *script { return ts.Value("script").(*script) }

// database makes the script's database, where there is none yet.
func (s *script) database(ts *testscript.TestScript) {
	if s.address == "" {
		s.address = s.db(s.t, s.t.TempDir())
		ts.Setenv("HUB_DB", s.address)
	}
}

func (s *script) start(ts *testscript.TestScript, flags []string) {
	s.database(ts)
	if s.front == nil {
		s.front = newFront(s.t)
		ts.Setenv("ORIGIN", s.front.origin)
	}
	s.hubs = nil
	for range s.count {
		s.hubs = append(s.hubs, startHub(s.t, s.address, append(flags, "--public-url", s.front.origin)...))
	}
	s.front.lead(s.hubs)
}

// startOther starts another hub.
func (s *script) startOther(ts *testscript.TestScript, user string) {
	address := s.db(s.t, s.t.TempDir())
	s.other = newFront(s.t)
	h := startHub(s.t, address, "--public-url", s.other.origin)
	s.other.lead([]*hub{h})
	h.admin(s.t, "account", "create", user)
	ts.Setenv("OTHER_HUB", s.other.origin)
	ts.Setenv("OTHER_TOKEN", h.token(s.t, user, "write:catalog", "admin:resource"))
}

func (s *script) stop() {
	for _, h := range s.hubs {
		h.stop(s.t)
	}
}

// login makes an account, where there is none, and a token, and logs in with it.
func login(ts *testscript.TestScript, user string, scopes []string) {
	if err := ts.Exec("hub", "account", "create", user); err != nil &&
		!strings.Contains(ts.ReadFile("stderr"), "already exists") {
		ts.Fatalf("hub account create %s: %v", user, err)
	}
	token(ts, "TOKEN", user, scopes)
	ts.Check(ts.Exec("tool", "login", "--origin", ts.Getenv("ORIGIN"), "--token", ts.Getenv("TOKEN")))
}

// token makes a token and puts it into a variable.
func token(ts *testscript.TestScript, variable, user string, scopes []string) {
	args := []string{"token", "create", "--user", user, "--name", "test"}
	for _, scope := range scopes {
		args = append(args, "--scope", scope)
	}
	ts.Check(ts.Exec("hub", args...))
	ts.Setenv(variable, strings.TrimSpace(ts.ReadFile("stdout")))
}

// volatile is what differs from run to run, and what stands for it.
var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(Migrated \d{4}\n)+`), "Migrated NNNN\n"},
	{regexp.MustCompile(`127\.0\.0\.1:\d{2,5}`), "HOST"},
	{regexp.MustCompile(`hubpat_[0-9A-Za-z]{38}`), "TOKEN"},
	{regexp.MustCompile(`hubpat_[0-9A-Za-z]{5}\b`), "hubpat_xxxxx"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\d{1,2} [A-Z][a-z]+ \d{4}( \d\d:\d\d UTC)?`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`), "YYYY-MM-DD HH:MM"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "YYYY-MM-DD"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d on TIME`), "TIME"},
	{regexp.MustCompile(`until \d\d:\d\d:\d\d`), "until TIME"},
	{regexp.MustCompile(`("requestId": ?"|request: )[a-z2-7]{16}`), "${1}REQUEST"},
	{regexp.MustCompile(`("push": ?")[A-Z2-7]{26}`), "${1}PUSH"},
	{regexp.MustCompile(`/link\?code=[\w.%-]+`), "/link?code=SECRET"},
	{regexp.MustCompile(`Retry-After: \d+`), "Retry-After: SECONDS"},
	{regexp.MustCompile(`\d+ used, unlimited`), "N used, unlimited"},
	{regexp.MustCompile(`"used": \d+`), `"used": N`},
	{regexp.MustCompile(`;t=\d+`), ";t=SECONDS"},
	{regexp.MustCompile(`/pulls/[0-9a-f]{32}/`), "/pulls/PLACE/"},
	{regexp.MustCompile(`("id": ?"|Revoked |the token |token revoke (?:\S+ )?)[0-9a-f]{12}\b`), "${1}tokens-id..."},
	{regexp.MustCompile(`(Revoked with it: |\), )[0-9a-f]{12} \(`), "${1}tokens-id... ("},
	{regexp.MustCompile(`(?m)^[0-9a-f]{12}(  .*(?:until|never|used|in use|hubpat_))`), "tokens-id...$1"},
	{regexp.MustCompile(`(?:just now|\d+ (?:min|h|d|y) ago)( ?) *`), "AGO$1"},
}

// normal replaces what differs from run to run.
func (s *script) normal(ts *testscript.TestScript, text string) string {
	if s.address != "" {
		text = strings.ReplaceAll(text, " --db "+s.address, "")
	}
	text = strings.NewReplacer(
		ts.Getenv("WORK"), "WORK",
		filepath.Base(ts.Getenv("WORK")), "WORK",
		s.dir, "HOME",
	).Replace(text)
	if origin := ts.Getenv("ORIGIN"); origin != "" {
		text = strings.ReplaceAll(text, origin, "ORIGIN")
	}
	if other := ts.Getenv("OTHER_HUB"); other != "" {
		text = strings.ReplaceAll(text, other, "OTHER")
	}
	if fake := ts.Getenv("FAKE"); fake != "" {
		text = strings.ReplaceAll(text, fake, "FAKE")
	}
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}
