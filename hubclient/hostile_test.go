package hubclient_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// An odd answer is what no hub sends.
type odd struct {
	name string
	code wire.Code
	send func(net.Conn)
}

// says is an odd answer of these bytes.
func says(name string, code wire.Code, bytes string) odd {
	return odd{name, code, func(c net.Conn) { io.WriteString(c, bytes) }}
}

// ok is an answer with a body and all that makes it a hub's.
func ok(body string, header ...string) string {
	return message("200 OK", "application/json", body, header...)
}

func problem(status, body string, header ...string) string {
	return message(status, "application/problem+json", body, header...)
}

func message(status, mediaType, body string, header ...string) string {
	header = append(header, "Hub-Version: 1.2.3", "Content-Type: "+mediaType, fmt.Sprintf("Content-Length: %d", len(body)),
		"Connection: close")
	return "HTTP/1.1 " + status + "\r\n" + strings.Join(header, "\r\n") + "\r\n\r\n" + body
}

// endless repeats a piece until the reader stops.
func endless(name string, code wire.Code, start, piece string) odd {
	return odd{name, code, func(c net.Conn) {
		io.WriteString(c, start)
		for many := strings.Repeat(piece, 1+16_000/len(piece)); ; {
			if _, err := io.WriteString(c, many); err != nil {
				return
			}
		}
	}}
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

const (
	notAHub     = hubclient.CodeNotAHub
	unreachable = hubclient.CodeUnreachable
)

var long = strings.Repeat("x\u001b[31m\n", 4_000)

func quoted(s string) string { return string(must(wire.Encode(s))) }

func oddAnswers() []odd {
	chunked := "HTTP/1.1 200 OK\r\nHub-Version: 1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	return slices.Concat([]odd{
		says("nothing", unreachable, ""),
		says("HTTP/0.9", notAHub, "<html>hello</html>\n"),
		says("a greeting of SSH", notAHub, "SSH-2.0-OpenSSH_9.2\r\n"),
		says("a greeting of SMTP", notAHub, "220 mail.example.com ESMTP\r\n"),
		says("an alert of TLS", notAHub, "\x15\x03\x01\x00\x02\x02\x46\r\n"),
		says("zeros", notAHub, strings.Repeat("\x00", 5_000)+"\n"),
		says("HTTP/2", notAHub, "HTTP/2.0 200 OK\r\n\r\n"),
		says("HTTP/9.9", notAHub, "HTTP/9.9 200 OK\r\n\r\n"),
		says("an invalid status", notAHub, "HTTP/1.1 2xx OK\r\n\r\n"),
		says("a negative status", notAHub, "HTTP/1.1 -20 OK\r\n\r\n"),
		says("status 0", notAHub, "HTTP/1.1 000 OK\r\n\r\n"),
		says("status 999", notAHub, "HTTP/1.1 999 "+strings.Repeat("y", 9_000)+"\r\nContent-Length: 0\r\n\r\n"),
		says("a reason that is long", notAHub,
			"HTTP/1.1 404 "+strings.Repeat("y", 9_000)+"\x1b\r\nContent-Length: 0\r\n\r\n"),
		says("a header without a colon", notAHub, "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"),
		says("a header with a control character", notAHub, "HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n"),
		says("two lengths", notAHub, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}"),
		says("a negative length", notAHub, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
		says("an invalid length", notAHub, "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}"),
		says("a length too long", unreachable,
			"HTTP/1.1 200 OK\r\nHub-Version: 1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{}"),
		says("an unknown transfer encoding", notAHub, "HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\n{}"),
		says("invalid chunks", notAHub, chunked+"zz\r\n{}\r\n0\r\n\r\n"),
		says("a chunk of negative size", notAHub, chunked+"-1\r\n{}\r\n0\r\n\r\n"),
		says("chunks that end early", unreachable, chunked+"2\r\n{}"),
		says("switching protocols", notAHub,
			"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n{}"),
		says("204", notAHub, "HTTP/1.1 204 No Content\r\nHub-Version: 1\r\n\r\n"),
		says("206", notAHub, message("206 Partial Content", "application/json", `{}`)),
		says("304 without a question", notAHub, "HTTP/1.1 304 Not Modified\r\nHub-Version: 1\r\n\r\n"),
		says("300", notAHub, message("300 Multiple Choices", "application/json", `{}`)),
		says("302 without a target", notAHub, message("302 Found", "application/json", `{}`)),
		says("307 with two targets", hubclient.CodeRedirected,
			message("307 X", "application/json", `{}`, "Location: http://a.example", "Location: http://b.example")),
		says("HTML", notAHub, message("200 OK", "text/html", "<html>")),
		says("JSON called HTML", notAHub, message("200 OK", "text/html", `{}`)),
		says("JSON of no type", notAHub, message("200 OK", "", `{}`)),
		says("JSON of an odd type", notAHub, message("200 OK", ";;;", `{}`)),
		says("without a version of the hub", notAHub,
			"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
		says("with a long version of the hub", notAHub, ok(`[]`, "Hub-Version: "+strings.Repeat("9", 10_000))),
		says("gzip", notAHub, ok(zipped(`{}`), "Content-Encoding: gzip")),
		says("a bomb", notAHub, ok(zipped(strings.Repeat(" ", 50<<20)), "Content-Encoding: gzip")),
		says("500 that is HTML", notAHub, message("500 Internal Server Error", "text/html", "<html>")),
		says("407", notAHub, message("407 Proxy Authentication Required", "text/html", "")),
		says("429 that is HTML", wire.CodeRateLimited,
			message("429 Too Many Requests", "text/html", "<html>", "Retry-After: 1000000000")),
		says("503 that is HTML", wire.CodeUnavailable,
			message("503 Service Unavailable", "text/html", "<html>", "Retry-After: 9999999999999999999999")),
		says("502 that asks for less than nothing", wire.CodeUnavailable,
			message("502 Bad Gateway", "text/html", "", "Retry-After: -7")),
		says("a problem without a code", notAHub, problem("400 Bad Request", `{"detail":"no"}`)),
		says("a problem whose code is empty", notAHub, problem("400 Bad Request", `{"code":""}`)),
		says("a problem whose code is prose", notAHub, problem("400 Bad Request", `{"code":"Not Found!"}`)),
		says("a problem whose code is long", notAHub,
			problem("400 Bad Request", `{"code":"`+strings.Repeat("x", 1<<20)+`"}`)),
		says("a problem of wrong types", notAHub, problem("400 Bad Request", `{"code":7,"detail":[]}`)),
		says("a problem that is a list", notAHub, problem("400 Bad Request", `[{"code":"not_found"}]`)),
		says("a problem that is cut", notAHub, problem("400 Bad Request", `{"code":"not_found"`)),
		says("a problem of another type", notAHub, message("404 Not Found", "application/json", `{"code":"not_found"}`)),
		says("a problem of no hub", notAHub,
			"HTTP/1.1 404 X\r\nContent-Type: application/problem+json\r\nContent-Length: 20\r\n\r\n"+`{"code":"not_found"}`),
		says("a problem with a code of a later hub", "too_many_cooks",
			problem("400 Bad Request", `{"code":"too_many_cooks"}`)),
		says("a problem that is long and drives the terminal", wire.CodeInternal, problem("500 X",
			`{"code":"internal","detail":`+quoted(long)+`,"hint":`+quoted(long)+`,"requestId":`+quoted(long)+`}`)),
		says("a problem of an odd time", notAHub,
			problem("412 X", `{"code":"revision_changed","current":{"updatedAt":"yesterday"}}`)),
		says("a key that came with another body", wire.CodeIdempotencyMismatch,
			problem("422 X", `{"code":"idempotency_mismatch"}`)),
		says("an invalid ETag", notAHub, ok(`{}`, "ETag: \x80nonsense")),

		endless("an endless status line", notAHub, "HTTP/1.1 200 ", "y"),
		endless("an endless header", notAHub, "HTTP/1.1 200 OK\r\nX: ", "y"),
		endless("endless headers", notAHub, "HTTP/1.1 200 OK\r\n", "X: y\r\n"),
		endless("a flood of 100", notAHub, "", "HTTP/1.1 100 Continue\r\n\r\n"),
		endless("a flood of 103", notAHub, "", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"),
		endless("an endless body", notAHub, "HTTP/1.1 200 OK\r\nHub-Version: 1\r\n\r\n", " "),
		endless("an endless problem", notAHub,
			"HTTP/1.1 400 X\r\nHub-Version: 1\r\nContent-Type: application/problem+json\r\n\r\n", `{"code":`),
		endless("endless chunks", notAHub, chunked, "3e8\r\n"+strings.Repeat(" ", 1000)+"\r\n"),
		endless("an endless trailer", notAHub, chunked+"2\r\n{}\r\n0\r\n", "X: y\r\n"),
		endless("the longest body that can be announced", notAHub,
			"HTTP/1.1 200 OK\r\nHub-Version: 1\r\nContent-Length: 9223372036854775807\r\n\r\n", "[")},
		oddBodies())
}

// oddBodies are successes with an invalid body.
func oddBodies() []odd {
	var list []odd
	for name, body := range map[string]string{
		"an empty body":         ``,
		"white space":           "  \n",
		"HTML called JSON":      `<html>`,
		"JSON that is cut":      `{"user":"al`,
		"null":                  `null`,
		"a list":                `[]`,
		"a string":              `"x"`,
		"NaN":                   `{"enrichmentCount":NaN}`,
		"a member twice":        `{"user":"a","user":"b","project":1}`,
		"two values":            `{}{}`,
		"garbage behind":        `{} x`,
		"a comment":             `{/**/}`,
		"a BOM":                 "\ufeff{}",
		"invalid UTF-8":         "{\"user\":\"\xff\"}",
		"a lone surrogate":      `{"user":"\ud800"}`,
		"deep JSON":             strings.Repeat(`{"a":`, 100_000) + `1` + strings.Repeat(`}`, 100_000),
		"deep lists":            strings.Repeat(`[`, 100_000),
		"an empty object":       `{}`,
		"wrong types":           `{"project":7,"user":[],"projects":"x","nextCursor":1,"config":[],"revision":{}}`,
		"an invalid ref":        `{"project":{"account":"../..","slug":"x"},"user":7,"nextCursor":7,"files":7}`,
		"a ref of another":      `{"project":{"account":"evil","slug":"web"},"files":[{"path":"../x"}]}`,
		"an invalid time":       `{"expiresAt":"soon","createdAt":"soon","updatedAt":"soon"}`,
		"a number out of range": `{"enrichmentCount":1e400,"count":1e400}`,
		"a name that is long":   `{"project":{` + quoted(long) + `:1},"user":{` + quoted(long) + `:1}}`,
	} {
		list = append(list, says(name, notAHub, ok(body)))
	}
	return list
}

// asked are calls that read answers of each kind.
func asked() []call {
	return slices.DeleteFunc(calls(), func(c call) bool {
		return !slices.Contains([]string{"Whoami", "Config", "CreateProject", "PutBaseFiles"}, c.name)
	})
}

func TestHostileResponse_IsShortError(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	list := oddAnswers()
	t.Logf("%d odd answers", len(list))
	for _, o := range list {
		t.Run(o.name, func(t *testing.T) {
			for _, c := range asked() {
				synctest.Test(t, func(t *testing.T) { checkOdd(t, c, o) })
			}
		})
	}
}

func checkOdd(t *testing.T, c call, o odd) {
	b := newHub(t, hubclient.Options{Origin: origin, Token: token, Timeout: 5 * time.Second}, nil)
	var wrote atomic.Int64
	b.dial = func(context.Context, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if r, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
				if r.Header.Get("Expect") == "" {
					io.Copy(io.Discard, r.Body)
				}
				o.send(counter{far, &wrote})
			}
		}()
		return newPipe(near), nil
	}
	var err error
	took := elapsed(func() { err = c.do(t.Context(), b.Client) })
	e := wantCode(t, err, o.code)
	if took > 10*time.Second || wrote.Load() > 17<<20 {
		t.Errorf("%s took %v and read %d bytes", c.name, took, wrote.Load())
	}
	if len(e.RequestID) > 300 || strings.ContainsAny(e.RequestID, "\x1b\n") {
		t.Errorf("the request id has %d bytes", len(e.RequestID))
	}
}

// counter counts what is written to a connection.
type counter struct {
	net.Conn
	n *atomic.Int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.n.Add(int64(n))
	return n, err
}

func TestHostileResponse_InvalidRevisionNeverBecomesHeader(t *testing.T) {
	for _, revision := range []string{"", "x\r\nAuthorization: y", strings.Repeat("A", 64), strings.Repeat("a", 63),
		`"` + empty + `"`} {
		config, written := configOf(settings), writtenOf(settings)
		config.Revision, written.Revision = revision, revision
		play(t, []step{answered(200, config), answered(200, written)}, func(ctx context.Context, c *hubclient.Client) {
			_, err := c.Config(ctx, project, "")
			wantCode(t, err, notAHub)
			_, err = c.PutConfig(ctx, project, wire.PutConfig{Settings: settings}, "")
			wantCode(t, err, notAHub)
		})
		history := wire.BaseFilesHistory{Entries: []wire.BaseFilesEntry{{BaseFilesSum: wire.BaseFilesSum{Tree: revision}}}}
		play(t, []step{answered(200, history)}, func(ctx context.Context, c *hubclient.Client) {
			_, err := c.BaseFilesHistory(ctx, project)
			wantCode(t, err, notAHub)
		})
	}
}

func TestHostileResponse_EndlessListEnds(t *testing.T) {
	page := func(n, size int) string {
		p := wire.Projects{NextCursor: fmt.Sprint("@acme/p", n)}
		for i := range size {
			one := wire.Project{Project: must(ref.New("acme", fmt.Sprintf("p%d-%d", n, i))), API: project,
				CreatedBy: strings.Repeat("x", 10_000)}
			p.Projects = append(p.Projects, one)
		}
		return string(must(wire.Encode(p)))
	}
	large := page(0, 1_000)
	for name, test := range map[string]struct {
		next     func(n int) string
		requests int64
		code     wire.Code
	}{
		"the same page for ever":  {func(int) string { return page(0, 1) }, 1000, notAHub},
		"another page for ever":   {func(n int) string { return page(n, 1) }, 1000, notAHub},
		"large pages for ever":    {func(int) string { return large }, 7, notAHub},
		"a page without projects": {func(n int) string { return page(n, 0) }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, n int) {
					w.Header().Set("Hub-Version", "1")
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, test.next(n))
				})
				_, err := b.Projects(t.Context(), "acme")
				if test.code != "" {
					wantCode(t, err, test.code)
				} else if err != nil {
					t.Error(err)
				}
				if n := b.requests.Load(); n != test.requests {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func TestHostileResponse_LongListsAreNotDecoded(t *testing.T) {
	list := func(member string, n int) string {
		return `{"` + member + `":[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}`
	}
	nested := `{"tokens":[` + strings.TrimSuffix(strings.Repeat(`{"scopes":["",""]},`, 40_000), ",") + `]}`
	for name, test := range map[string]struct {
		reply string
		call  func(context.Context, *hubclient.Client) error
		code  wire.Code
	}{
		"projects": {ok(list("projects", 200_000)),
			func(ctx context.Context, c *hubclient.Client) error { _, err := c.Projects(ctx, ""); return err }, notAHub},
		"deleted": {ok(list("projects", 200_000)),
			func(ctx context.Context, c *hubclient.Client) error { _, err := c.DeletedProjects(ctx, ""); return err }, notAHub},
		"members": {ok(list("members", 200_000)),
			func(ctx context.Context, c *hubclient.Client) error { _, err := c.Members(ctx, "acme"); return err }, notAHub},
		"history": {ok(list("entries", 200_000)), func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.BaseFilesHistory(ctx, project)
			return err
		}, notAHub},
		"problem": {problem("422 X", list("errors", 200_000)),
			func(ctx context.Context, c *hubclient.Client) error { _, err := c.Tokens(ctx); return err }, notAHub},
		"lists in a list": {ok(nested),
			func(ctx context.Context, c *hubclient.Client) error { _, err := c.Tokens(ctx); return err }, notAHub},
		"as many as may be": {ok(list("tokens", 100_000)),
			func(ctx context.Context, c *hubclient.Client) error { _, err := c.Tokens(ctx); return err }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{Origin: origin, Token: token}, nil)
				b.dial = func(context.Context, string) (net.Conn, error) {
					near, far := net.Pipe()
					go func() {
						defer far.Close()
						if _, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
							io.WriteString(far, test.reply)
						}
					}()
					return newPipe(near), nil
				}
				switch err := test.call(t.Context(), b.Client); {
				case test.code != "":
					wantCode(t, err, test.code)
				case err != nil:
					t.Error(err)
				}
			})
		})
	}
}

func FuzzAnswer(f *testing.F) {
	for _, o := range []string{
		ok(`{"user":"alice"}`), ok(`{}`), problem("404 X", `{"code":"not_found","detail":"x"}`), message("502 X", "", ""),
		"HTTP/1.1 302 X\r\nLocation: /x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "x\n", "",
	} {
		f.Add([]byte(o))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		c, err := hubclient.New(hubclient.Options{Origin: origin, Token: token,
			Timeout: 50 * time.Millisecond}) // too short to try again
		if err != nil {
			t.Fatal(err)
		}
		c.DialBy(func(context.Context, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				http.ReadRequest(bufio.NewReader(far))
				far.Write(reply)
			}()
			return near, nil
		})
		defer c.CloseIdle()
		if _, err = c.Config(t.Context(), project, ""); err == nil {
			return
		}
		e := failure(t, err)
		wantCode(t, err, e.Code)
		if e.Code == "" || e.Status >= 1000 {
			t.Errorf("%+v", e)
		}
	})
}

// What becomes a word of a printed command, or is shown as one.
func TestResponse_WithAnInvalidNameOrVersionIsRefused(t *testing.T) {
	const bad = "1.0.0; touch x"
	whoami := func(ctx context.Context, c *hubclient.Client) error { _, err := c.Whoami(ctx); return err }
	view := func(ctx context.Context, c *hubclient.Client) error { _, err := c.Project(ctx, project); return err }
	push := func(ctx context.Context, c *hubclient.Client) error {
		_, err := c.PutConfig(ctx, project, wire.PutConfig{Settings: settings}, "")
		return err
	}
	stack := func(ctx context.Context, c *hubclient.Client) error { _, err := c.Stack(ctx, project); return err }
	revision := strings.Repeat("a", 64)
	for _, a := range []struct {
		call func(context.Context, *hubclient.Client) error
		body any
	}{
		{whoami, wire.Whoami{User: bad}}, {whoami, wire.Whoami{User: strings.Repeat("x", 10_000)}},
		{whoami, wire.Whoami{User: "alice", Bot: bad}},
		{view, wire.Project{Project: project, StackVersion: bad}},
		{view, wire.Project{Project: project, ResolvedStackVersion: bad}},
		{view, wire.Project{Project: project, UseStackVersion: bad}},
		{push, wire.ConfigWritten{Project: project, Revision: revision, UseStackVersion: bad}},
		{push, wire.ConfigWritten{Project: project, Revision: revision, StackVersion: bad}},
		{push, wire.ConfigWritten{Project: project, Revision: revision,
			Replaced: &wire.Replaced{Edit: wire.Edit{Revision: bad}}}},
		{stack, wire.Stack{Latest: bad, Versions: []wire.StackVersion{{Version: "1.0.0"}}}},
		{stack, wire.Stack{Latest: "1.0.0", Versions: []wire.StackVersion{{Version: bad}}}},
	} {
		play(t, []step{answered(200, a.body)}, func(ctx context.Context, c *hubclient.Client) {
			if err := a.call(ctx, c); !hubclient.HasCode(err, hubclient.CodeNotAHub) || len(err.Error()) > 300 {
				t.Errorf("%+v: %.200v", a.body, err)
			}
		})
	}
}
