package hubclient_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// hub is a hub that lives in memory, so that a test in a synctest bubble can use
// it: time passes there only while everybody waits.
type hub struct {
	*hubclient.Client
	requests atomic.Int64     // but for plans of base files
	plan     http.HandlerFunc // answers those
	handle   handler          // answers all others
	dial     func(ctx context.Context, address string) (net.Conn, error)
}

// handler answers the nth request, counted from 1.
type handler func(w http.ResponseWriter, r *http.Request, n int)

const origin = "http://127.0.0.1:4680"

var token = pat.New()

// quiet is the log of a server whose troubles are meant.
var quiet = log.New(io.Discard, "", 0)

// newHub returns a client of a hub that answers by h.
func newHub(t testing.TB, opts hubclient.Options, h handler) *hub {
	t.Helper()
	if opts.Origin == "" {
		opts.Origin, opts.Token = origin, token
	}
	client, err := hubclient.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	b := &hub{Client: client, plan: lackAll, handle: h}
	listener := newPipes()
	var handlers sync.WaitGroup
	server := &http.Server{ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		if strings.HasSuffix(r.URL.Path, "/plan") {
			body, _ := io.ReadAll(r.Body) // or what a handler leaves unread would end the connection
			r.Body = io.NopCloser(bytes.NewReader(body))
			b.plan(w, r)
			return
		}
		b.handle(w, r, int(b.requests.Add(1)))
	})}
	ctx, end := context.WithCancel(context.Background())
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	go server.Serve(listener)
	b.dial = listener.dial
	client.DialBy(func(ctx context.Context, address string) (net.Conn, error) { return b.dial(ctx, address) })
	t.Cleanup(func() {
		end()
		client.CloseIdle()
		server.Close()
		handlers.Wait()
	})
	return b
}

// pipes is a listener whose connections are pipes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newPipes() *pipes {
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return newPipe(near), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pipe fails as a connection of the network does.
type pipe struct {
	net.Conn
	closed atomic.Bool
}

func newPipe(c net.Conn) *pipe { return &pipe{Conn: c} }

func (p *pipe) Close() error {
	p.closed.Store(true)
	return p.Conn.Close()
}

func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	if errors.Is(err, io.ErrClosedPipe) {
		err = &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
		if p.closed.Load() {
			err = &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed}
		}
	}
	return n, err
}

// readPlan reads the request for a plan.
func readPlan(r *http.Request) (p wire.PlanBaseFiles, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return p, err
	}
	return p, wire.Decode(body, &p)
}

// lackAll answers a plan as a hub that holds no content.
func lackAll(w http.ResponseWriter, r *http.Request) {
	p, err := readPlan(r)
	if err != nil {
		refuse(w, 422, wire.CodeInvalidBody)
		return
	}
	answer(w, 200, wire.PlannedBaseFiles{Missing: p.Digests})
}

// digestsOf returns the digests of files, each once.
func digestsOf(files []tree.Entry) []string {
	digests := []string{}
	for _, e := range files {
		if !slices.Contains(digests, e.SHA256) {
			digests = append(digests, e.SHA256)
		}
	}
	return digests
}

// answer answers as a hub does.
func answer(w http.ResponseWriter, status int, v any) {
	body, err := wire.Encode(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Hub-Version", "1.2.3")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, status int, code wire.Code) {
	w.Header().Set("Hub-Version", "1.2.3")
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"status":%d,"code":%q,"detail":"the reason","hint":"the hint","requestId":"r1"}`, status, code)
}

// raw answers with bytes, and ends the connection.
func raw(w http.ResponseWriter, bytes string) {
	conn := hijack(w)
	defer conn.Close()
	io.WriteString(conn, bytes)
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}

// lose reads the whole request, and ends the connection without an answer.
func lose(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	hijack(w).Close()
}

var project = must(ref.New("acme", "web"))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// filesOf returns a tree of files with these contents, and their opener.
func filesOf(contents map[string]string) (tree.Tree, hubclient.Opener) {
	var entries []tree.Entry
	for path, content := range contents {
		mode := tree.Regular
		if strings.HasSuffix(path, ".sh") {
			mode = tree.Executable
		}
		entries = append(entries, tree.Entry{Path: path, Mode: mode, Size: int64(len(content)), SHA256: digest(content)})
	}
	open := func(e tree.Entry) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(contents[e.Path])), nil
	}
	return must(tree.New(entries)), open
}

func someFiles() (tree.Tree, hubclient.Opener) {
	return filesOf(map[string]string{"a.txt": "alpha", "b/run.sh": "#!/bin/sh\n", "é/ü.txt": ""})
}

// uploads are the calls that stream files, with what a success answers.
var uploads = map[string]struct {
	do      func(context.Context, *hubclient.Client, tree.Tree, hubclient.Opener) error
	success func(http.ResponseWriter)
}{
	"base files": {func(ctx context.Context, c *hubclient.Client, files tree.Tree, open hubclient.Opener) error {
		_, err := c.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(ctx)
		return err
	}, answering(200, wire.BaseFilesWritten{Project: project})},
	"a bundle": {func(ctx context.Context, c *hubclient.Client, files tree.Tree, open hubclient.Opener) error {
		_, err := c.PublishVersion(ctx, project, "1.0.0", hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
		return err
	}, answering(201, wire.Published{StackVersion: wire.StackVersion{Version: "1.0.0"}})},
}

// call is one of a client's calls, without its result.
type call struct {
	name, method string
	write        bool
	do           func(context.Context, *hubclient.Client) error
	success      func(http.ResponseWriter)
}

var settings = []byte(`{"title":"Home","enrichments":[{"x":1}]}`)

func revisionOf(settings []byte) string { return must(flat.Fold(settings)).Revision() }

func configOf(settings []byte) wire.Config {
	c := must(flat.Fold(settings))
	state := wire.ConfigState{Edit: wire.Edit{Revision: c.Revision(), UpdatedBy: "carol"}, HasConfig: c.Len() > 0}
	return wire.Config{Project: project, Config: c.Canonical(), ConfigState: state}
}

func writtenOf(settings []byte) wire.ConfigWritten {
	c := configOf(settings)
	return wire.ConfigWritten{Project: project, Config: c.Config, Revision: c.Revision}
}

var create = wire.CreateProject{Account: "acme", Slug: "web", Stack: "acme/base", API: project}

func answering(status int, v any) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { answer(w, status, v) }
}

// described returns the description of a hub with limits.
func described() (d wire.Description) {
	d.Info.Limits = wire.Limits{ConfigBytes: 1, ConfigKeys: 1, ConfigDepth: 1, BaseFiles: 1, BaseFileBytes: 1,
		BaseFilesBytes: 1}
	return d
}

var device = wire.Device{DeviceCode: "d", UserCode: "BBBB-BBBB", VerificationURI: origin + "/device", ExpiresIn: 600,
	Interval: 2}

var oneTimeLink = wire.Link{URL: origin + "/link?code=alice.x"}

var tokenInfo = wire.TokenInfo{ID: "1f0c2d9b8a77", Name: "ci", Self: true}

// onceCalls are the calls that the hub does again each time they are sent.
func onceCalls() []call {
	return []call{
		{"CreateToken", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.CreateToken(ctx, wire.CreateToken{Name: "ci", Restriction: wire.Restriction{Project: project}})
			return err
		}, answering(201, wire.CreatedToken{TokenInfo: tokenInfo, Token: token})},
		{"CreateBotToken", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.CreateBotToken(ctx, project, wire.CreateBotToken{Name: "ci"})
			return err
		}, answering(201, wire.BotToken{Bot: project.String(), Token: token})},
	}
}

// allCalls are all calls of a client.
func allCalls() []call { return slices.Concat(calls(), historyCalls(), onceCalls()) }

// calls are all calls of a client that can be sent again.
func calls() []call {
	files, open := someFiles()
	set := wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest(), Count: len(files)}, Files: files}
	version := wire.StackVersion{Stack: "acme/base", Version: "1.0.0"}
	api := wire.API{API: project, Title: "Pets"}
	bot := wire.Bot{Account: "acme", BotID: "b"}
	return []call{
		{"Whoami", "GET", false, func(ctx context.Context, c *hubclient.Client) error { _, err := c.Whoami(ctx); return err },
			answering(200, wire.Whoami{User: "alice"})},
		{"Limits", "GET", false, func(ctx context.Context, c *hubclient.Client) error { _, err := c.Limits(ctx); return err },
			answering(200, described())},
		{"Project", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.Project(ctx, project)
			return err
		},
			answering(200, wire.Project{Project: project, API: project})},
		{"Projects", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.Projects(ctx, "acme")
			return err
		},
			answering(200, wire.Projects{})},
		{"CreateProject", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.CreateProject(ctx, create)
			return err
		}, answering(201, wire.Project{Project: project, API: project})},
		{"EditProject", "PATCH", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.EditProject(ctx, project, wire.EditProject{Visibility: wire.Public})
			return err
		}, answering(200, wire.Project{Project: project, API: project})},
		{"DeleteProject", "DELETE", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.DeleteProject(ctx, project)
			return err
		}, answering(200, wire.Deleted{Project: project, Existed: true})},
		{"RestoreProject", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.RestoreProject(ctx, project, "web")
			return err
		}, answering(200, wire.Restored{Project: project})},
		{"DeletedProjects", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.DeletedProjects(ctx, "acme")
			return err
		}, answering(200, wire.DeletedProjects{})},
		{"Config", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.Config(ctx, project, "")
			return err
		},
			answering(200, configOf(settings))},
		{"PutConfig", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.PutConfig(ctx, project, wire.PutConfig{Settings: settings}, "")
			return err
		}, answering(200, writtenOf(settings))},
		{"RestoreConfig", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.RestoreConfig(ctx, project, wire.PutConfig{Settings: settings}, former)
			return err
		}, answering(200, writtenOf(settings))},
		{"CheckConfig", "POST", false, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.CheckConfig(ctx, project, wire.PutConfig{Settings: settings}, "")
			return err
		}, answering(200, writtenOf(settings))},
		{"CheckSettings", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.CheckSettings(ctx, wire.CheckSettings{Schema: settings, Settings: settings})
			return err
		}, answering(200, wire.CheckedSettings{Findings: []wire.FieldError{}})},
		{"BaseFiles", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.BaseFiles(ctx, project)
			return err
		},
			answering(200, set)},
		{"PutBaseFiles", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, Base: tree.Tree{}.Snapshot()}
			_, err := c.Upload(project, set).Put(ctx)
			return err
		}, answering(200, wire.BaseFilesWritten{Project: project, Tree: files.Digest(), BaseFilesPushed: len(files)})},
		{"Stack", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.Stack(ctx, project)
			return err
		},
			answering(200, wire.Stack{Stack: "acme/base", Versions: []wire.StackVersion{version}})},
		{"PublishVersion", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.PublishVersion(ctx, project, "1.0.0", hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
			return err
		}, answering(201, wire.Published{StackVersion: version})},
		{"UploadAPI", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.UploadAPI(ctx, "acme", hubclient.Description{Document: []byte("openapi: 3.1.0")}, "")
			return err
		}, answering(201, api)},
		{"ImportAPI", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.ImportAPI(ctx, wire.ImportAPI{Account: "acme", URL: "https://example.com/api.yaml"}, "")
			return err
		}, answering(201, api)},
		{"API", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.API(ctx, project)
			return err
		},
			answering(200, api)},
		{"UpdateAPI", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.UpdateAPI(ctx, project, hubclient.Description{Document: []byte("openapi: 3.1.0")})
			return err
		}, answering(200, api)},
		{"UpdateAPIFrom", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.UpdateAPIFrom(ctx, project, "https://example.com/api.yaml")
			return err
		}, answering(200, api)},
		{"DeleteAPI", "DELETE", true, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.DeleteAPI(ctx, project)
			return err
		},
			answering(200, wire.DeletedAPI{API: project, Existed: true})},
		{"APIs", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.APIs(ctx, "acme")
			return err
		},
			answering(200, wire.APIs{})},
		{"PatchConfig", "PATCH", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.PatchConfig(ctx, project, wire.PatchConfig{Remove: []string{"a"}}, "")
			return err
		}, answering(200, writtenOf(settings))},
		{"RateLimit", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.RateLimit(ctx, bot)
			return err
		},
			answering(200, wire.RateLimit{Bot: bot})},
		{"SetRateLimit", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.SetRateLimit(ctx, bot, wire.RateLimitConfig{}, "")
			return err
		}, answering(200, wire.RateLimit{Bot: bot})},
		{"StartDevice", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.StartDevice(ctx, "tool")
			return err
		}, answering(200, device)},
		{"DeviceToken", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.DeviceToken(ctx, "d")
			return err
		}, answering(200, wire.DeviceToken{Token: token})},
		{"CreateLink", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.CreateLink(ctx, "/@acme/web")
			return err
		}, answering(201, oneTimeLink)},
		{"Invite", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.CreateInvitation(ctx, "acme", wire.Writer)
			return err
		}, answering(201, oneTimeLink)},
		{"Bots", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.Bots(ctx, "acme")
			return err
		},
			answering(200, wire.Bots{})},
		{"CreateBot", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			_, _, err := c.CreateBot(ctx, project)
			return err
		}, answering(201, wire.Bot{Account: "acme", BotRefID: project.String()})},
		{"Tokens", "GET", false, func(ctx context.Context, c *hubclient.Client) error { _, err := c.Tokens(ctx); return err },
			answering(200, wire.Tokens{})},
		{"RevokeToken", "DELETE", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.RevokeToken(ctx, wire.TokenSelf)
			return err
		}, answering(200, wire.RevokedToken{ID: "1f0c2d9b8a77", Self: true})},
		{"Members", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.Members(ctx, "acme")
			return err
		},
			answering(200, wire.Members{})},
		{"SetMember", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.SetMember(ctx, "acme", "nora", wire.Writer)
			return err
		}, answering(200, wire.Member{User: "nora", Role: wire.Writer})},
		{"RemoveMember", "DELETE", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.RemoveMember(ctx, "acme", "nora")
			return err
		}, answering(200, wire.RemovedMember{Account: "acme", User: "nora"})},
		{"BotTokens", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.BotTokens(ctx, project)
			return err
		},
			answering(200, wire.BotTokens{Bot: project.String()})},
		{"RevokeBotToken", "DELETE", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.RevokeBotToken(ctx, project, "1f0c2d9b8a77")
			return err
		}, answering(200, wire.RevokedBotToken{Bot: project.String(), ID: "1f0c2d9b8a77"})},
		{"DeleteBot", "DELETE", true, func(ctx context.Context, c *hubclient.Client) error {
			_,
				err := c.DeleteBot(ctx, project)
			return err
		},
			answering(200, wire.DeletedBot{Bot: project.String()})},
	}
}

func sameRef(a, b ref.Ref) bool { return a == b }

// failure returns the *Error that err is.
func failure(t testing.TB, err error) *hubclient.Error {
	t.Helper()
	var e *hubclient.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is %T: %v", err, err)
	}
	return e
}

// wantCode checks what every failure keeps: its code, and one line that is not too long.
func wantCode(t testing.TB, err error, code wire.Code) *hubclient.Error {
	t.Helper()
	e := failure(t, err)
	if e.Code != code {
		t.Errorf("the code is %q, want %q: %v", e.Code, code, err)
	}
	for _, text := range []string{e.Detail, e.Hint} {
		if len(text) > 300 || strings.ContainsFunc(text, tree.Unprintable) {
			t.Errorf("a text of %d bytes is not a short line: %.400q", len(text), text)
		}
	}
	return e
}

// elapsed returns how much time f takes.
func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// pass lets time pass in a bubble, at most until ctx ends.
func pass(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
