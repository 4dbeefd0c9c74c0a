// Package apptest runs one command in milliseconds: in a temporary workspace, with a
// fake UI, against a hub in this process. Only tests import it.
package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// User is who runs the commands. The account is a user who may do everything.
const User = "alice"

// World is a workspace, a hub, and a person at a terminal.
type World struct {
	testing.TB
	Dir     string // the workspace
	Origin  string // of the hub
	Token   string // of User
	UI      *UI
	Env     map[string]string
	Strict  bool   // no questions can be asked
	Watched bool   // stderr is a terminal, too
	Full    bool   // nothing can be written to stdout
	Stdin   string // what is typed where the UI is not asked

	// Hub answers the requests that reach it.
	Hub http.Handler

	before atomic.Pointer[Interceptor]
	store  *store.Store
}

// New returns a World without a local project.
func New(t testing.TB) *World {
	t.Helper()
	state := t.TempDir()
	w := &World{TB: t, Dir: t.TempDir(), UI: &UI{t: t}, store: storetest.OpenCopy(t, storetest.SQLite(t))}
	server := httptest.NewUnstartedServer(nil)
	w.Origin = "http://" + server.Listener.Addr().String()
	hub := hubserver.New(hubserver.Config{
		Store: w.store, PublicURL: w.Origin, Version: "1.0.0", Log: slog.New(slog.DiscardHandler),
		Limits: hubserver.DefaultLimits, Fetch: fetch.New(fetch.Options{}),
	})
	w.Hub = hub
	server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if before := w.before.Load(); before == nil || *before == nil || !(*before)(rw, r) {
			hub.ServeHTTP(rw, r)
		}
	})
	server.Start()
	t.Cleanup(server.Close)
	w.write(func(tx *store.Tx) error { return tx.CreateAccount(User, store.KindUser) })
	w.Token = w.NewToken("write:config write:catalog admin:resource")
	w.Env = map[string]string{
		"TOOL_HUB_TOKEN": w.Token, "TOOL_API_ORIGIN": w.Origin,
		"TOOL_CONFIG_DIR": filepath.Join(state, "config"), "TOOL_STATE_DIR": filepath.Join(state, "state"),
		"TOOL_CACHE_DIR": filepath.Join(state, "cache"),
	}
	return w
}

// Interceptor is called with a request before the hub. If it returns true, it has
// answered.
type Interceptor = func(w http.ResponseWriter, r *http.Request) bool

// Intercept calls f with each request from now on; nil calls nothing.
func (w *World) Intercept(f Interceptor) { w.before.Store(&f) }

// NewOrg creates an org of which User is admin.
func (w *World) NewOrg(name string) {
	w.Helper()
	w.write(func(tx *store.Tx) error {
		if err := tx.CreateAccount(name, store.KindOrg); err != nil {
			return err
		}
		return tx.SetMember(name, User, "admin")
	})
}

// NewMember creates a user with a role on org.
func (w *World) NewMember(org, name, role string) {
	w.Helper()
	w.write(func(tx *store.Tx) error {
		if err := tx.CreateAccount(name, store.KindUser); err != nil {
			return err
		}
		return tx.SetMember(org, name, role)
	})
}

func (w *World) write(f func(*store.Tx) error) {
	w.Helper()
	if err := w.store.Write(w.Context(), f); err != nil {
		w.Fatal(err)
	}
}

// NewToken returns another token of User with scopes, separated by spaces.
func (w *World) NewToken(scopes string) string {
	w.Helper()
	token := pat.New()
	w.write(func(tx *store.Tx) error {
		return tx.CreateToken(&store.Token{
			Hash: pat.Hash(token), Shown: pat.Shown(token), Name: "test", Owner: User, Scopes: scopes,
		})
	})
	return token
}

// Write writes a file of the workspace.
func (w *World) Write(name, content string) {
	w.Helper()
	path := filepath.Join(w.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		w.Fatal(err)
	}
}

// Read returns a file of the workspace.
func (w *World) Read(name string) string {
	w.Helper()
	content, err := os.ReadFile(filepath.Join(w.Dir, filepath.FromSlash(name)))
	if err != nil {
		w.Fatal(err)
	}
	return string(content)
}

// Local writes the local project web with these settings, for the hub project that
// destination names, if it is not empty.
func (w *World) Local(destination, settings string) {
	w.Helper()
	client := `{"settings": ` + settings + `, "source": "openapi.json"}`
	if destination != "" {
		client = `{"project": "` + destination + `", "settings": ` + settings + `, "source": "openapi.json"}`
	}
	w.Write(".tool/web/client.json", client)
	w.Write(".tool/web/stack.json", `{"name": "@`+User+`/web", "version": "1.0.0"}`)
	w.Write("openapi.json", description)
}

// Client returns a client of the hub that speaks for User.
func (w *World) Client() *hubclient.Client {
	w.Helper()
	c, err := hubclient.New(hubclient.Options{Origin: w.Origin, Token: w.Token})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// Result is what a command did.
type Result struct {
	testing.TB
	Code     int
	Out, Err string
}

// Command makes a command.
type Command = func(*app.App) *cobra.Command

// Run runs a command with arguments, which do not repeat its name.
func (w *World) Run(command Command, args ...string) Result {
	w.Helper()
	var out, errs bytes.Buffer
	var stdout io.Writer = &out
	if w.Full {
		stdout = full{}
	}
	a := app.New(w.lookup, term.Streams{
		In: strings.NewReader(w.Stdin), Out: stdout, Err: &errs, InTTY: !w.Strict, OutTTY: !w.Strict,
		ErrTTY:  w.Watched,
		Measure: func() (columns, rows int, err error) { return 1000, 24, nil }, // no line is folded
	})
	a.UI = w.UI
	a.Cache = w.Env["TOOL_CACHE_DIR"]
	root := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true, PersistentPreRunE: a.Begin}
	a.GlobalFlags(root)
	c := command(a)
	root.AddCommand(c)
	code := a.Execute(root, append([]string{c.Name(), "-C", w.Dir}, args...))
	return Result{w, code, out.String(), errs.String()}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Unprinted runs a command whose result cannot be written, and requires that it says what was done.
func (w *World) Unprinted(done string, command Command, args ...string) {
	w.Helper()
	w.Full = true
	defer func() { w.Full = false }()
	for _, form := range [][]string{{}, {"--json"}} {
		w.Run(command, slices.Concat(args, form)...).Exits(1).
			Prints(done + ", but its result could not be written to stdout: no space left on device")
	}
}

// lookup looks up an environment variable. An empty one is unset.
func (w *World) lookup(name string) (string, bool) {
	value, ok := w.Env[name]
	return value, ok && value != ""
}

// Done requires exit code 0.
func (r Result) Done() Result {
	r.Helper()
	return r.Exits(0)
}

// Exits requires an exit code.
func (r Result) Exits(code int) Result {
	r.Helper()
	if r.Code != code {
		r.Fatalf("exit code %d, want %d\n%s%s", r.Code, code, r.Out, r.Err)
	}
	return r
}

// Prints requires texts in what was printed.
func (r Result) Prints(texts ...string) Result {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(r.Out+r.Err, text) {
			r.Errorf("no %q in\n%s%s", text, r.Out, r.Err)
		}
	}
	return r
}

// JSON decodes the document on stdout.
func (r Result) JSON() map[string]any {
	r.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(r.Out), &v); err != nil {
		r.Fatalf("%v\n%s%s", err, r.Out, r.Err)
	}
	return v
}

// Fails requires a failure in JSON with a code at a stage.
func (r Result) Fails(code, stage string) map[string]any {
	r.Helper()
	v := r.Exits(1).JSON()
	if v["code"] != code || v["stage"] != stage {
		r.Fatalf("code %v at stage %v, want %s at %s\n%s", v["code"], v["stage"], code, stage, r.Out)
	}
	return v
}

// Refuse answers a request with a problem, as a hub does, and returns true.
func Refuse(w http.ResponseWriter, status int, code wire.Code, detail string) bool {
	body, err := wire.Encode(wire.Problem{
		Type: "about:blank", Title: detail, Status: status, Code: code, Detail: detail, RequestID: "r1",
	})
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Hub-Version", "1.0.0")
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return true
}
