package hubclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// A fault makes the first attempt fail.
type fault struct {
	name    string
	retried bool
	dial    func(*hub) // before the first attempt
	answer  handler
}

func faults() []fault {
	list := []fault{
		{"no such name", false, broken(dialFault(&net.DNSError{Err: "no such host", IsNotFound: true})), nil},
		{"closed at once", true, func(b *hub) {
			dial := b.dial
			b.dial = func(context.Context, string) (net.Conn, error) {
				b.dial = dial
				near, far := net.Pipe()
				return newPipe(near), far.Close()
			}
		}, nil},
		{"reset", true, func(b *hub) {
			dial := b.dial
			b.dial = func(ctx context.Context, address string) (net.Conn, error) {
				b.dial = dial
				conn, err := dial(ctx, address)
				return &resetConn{Conn: conn}, err
			}
		}, nil},
		{"end before the answer", true, nil, func(w http.ResponseWriter, r *http.Request, _ int) { lose(w, r) }},
		{"end within the header", true, nil, func(w http.ResponseWriter, r *http.Request, _ int) {
			io.Copy(io.Discard, r.Body)
			raw(w, "HTTP/1.1 200 OK\r\nHub-Version: 1\r\nContent-Type: appl")
		}},
		{"end within the body", true, nil, func(w http.ResponseWriter, r *http.Request, _ int) {
			io.Copy(io.Discard, r.Body)
			raw(w, "HTTP/1.1 200 OK\r\nHub-Version: 1\r\nContent-Length: 100\r\n\r\n{\"user\":")
		}},
		{"garbage", false, nil, func(w http.ResponseWriter, _ *http.Request, _ int) { raw(w, "SSH-2.0-OpenSSH_9.2\r\n") }},
		{"redirect", false, nil, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Location", "https://example.com/")
			w.WriteHeader(302)
		}},
		{"HTML", false, nil, func(w http.ResponseWriter, _ *http.Request, _ int) { io.WriteString(w, "<html>") }},
	}
	again := []int{429, 502, 503, 504}
	for _, status := range []int{400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 422, 425, 428, 429, 500, 501, 502,
		503, 504, 507, 511} {
		retried := slices.Contains(again, status)
		list = append(list,
			fault{http.StatusText(status), retried, nil,
				func(w http.ResponseWriter, _ *http.Request, _ int) { refuse(w, status, wire.CodeInternal) }},
			fault{http.StatusText(status) + " without a problem", retried, nil,
				func(w http.ResponseWriter, _ *http.Request, _ int) { http.Error(w, "<html>", status) }})
	}
	return list
}

func TestClient_RetriesARefusedConnectionForAFewSecondsButNotOnLoopback(t *testing.T) {
	dead := map[string]error{
		"refused":          refusedDial,
		"no route":         dialFault(os.NewSyscallError("connect", syscall.EHOSTUNREACH)),
		"name server away": dialFault(&net.DNSError{Err: "server misbehaving", IsTemporary: true}),
		"proxy refused":    &net.OpError{Op: "proxyconnect", Net: "tcp", Err: refusedDial},
	}
	for name, fails := range dead {
		for address, want := range map[string]struct {
			least    int // attempts
			longest  time.Duration
			shortest time.Duration
		}{
			origin:                    {1, 0, 0},
			"https://localhost":       {1, 0, 0},
			"https://hub.example.com": {4, 5 * time.Second, time.Second},
		} {
			for _, c := range allCalls() {
				t.Run(name+"/"+address+"/"+c.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						attempts := 0
						b := newHub(t, hubclient.Options{Origin: address, Token: token}, nil)
						b.dial = func(context.Context, string) (net.Conn, error) {
							attempts++
							return nil, fails
						}
						var err error
						took := elapsed(func() { err = c.do(t.Context(), b.Client) })
						if e := wantCode(t, err, hubclient.CodeUnreachable); e.Hint != "" || attempts < want.least ||
							took > want.longest || took < want.shortest {
							t.Errorf("%d attempts in %v, want at least %d within %v: %+v", attempts, took, want.least, want.longest, e)
						}
					})
				})
			}
		}
	}
}

// A hub that is being restarted first ends its connections, and then refuses others.
func TestClient_RetriesARefusedConnectionOnLoopbackAfterOneThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				lose(w, r)
				return
			}
			answer(w, 200, wire.Whoami{User: "alice"})
		})
		dial, dials := b.dial, 0
		b.dial = func(ctx context.Context, address string) (net.Conn, error) {
			if dials++; dials == 2 {
				return nil, refusedDial
			}
			return dial(ctx, address)
		}
		if _, err := b.Whoami(t.Context()); err != nil || dials != 3 {
			t.Errorf("%d dials, %v", dials, err)
		}
	})
}

// dialFault is the error of a dial that fails with err.
func dialFault(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

var refusedDial = dialFault(os.NewSyscallError("connect", syscall.ECONNREFUSED))

// broken makes the first dial fail.
func broken(err error) func(*hub) {
	return func(b *hub) {
		dial := b.dial
		b.dial = func(context.Context, string) (net.Conn, error) {
			b.dial = dial
			return nil, err
		}
	}
}

// resetConn is reset once something was written.
type resetConn struct{ net.Conn }

func (c *resetConn) Read([]byte) (int, error) {
	c.Conn.Read(make([]byte, 1)) // ends with the pipe
	return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
}

func (c *resetConn) Write(p []byte) (int, error) {
	c.Conn.Close()
	return len(p), nil
}

func TestRetry_AfterTransientFault(t *testing.T) {
	for _, c := range calls() {
		for _, f := range faults() {
			t.Run(c.name+"/"+f.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkRetry(t, c, f) })
			})
		}
	}
}

func checkRetry(t *testing.T, c call, f fault) {
	attempts := 0
	opts := hubclient.Options{Origin: origin, Token: token, Trace: func(hubclient.Attempt) { attempts++ }}
	b := newHub(t, opts, func(w http.ResponseWriter, r *http.Request, n int) {
		if f.answer != nil && n == 1 {
			f.answer(w, r, n)
			return
		}
		c.success(w)
	})
	if f.dial != nil {
		f.dial(b)
	}
	err := c.do(t.Context(), b.Client)
	switch {
	case f.retried && (err != nil || attempts != 2):
		t.Errorf("%d attempts, %v", attempts, err)
	case !f.retried && c.name == "BaseFiles" && f.name == "Not Found":
		// The second request asks whether the project is there.
	case !f.retried && (err == nil || attempts != 1):
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func TestRetry_CreateKeepsItsIdempotencyKey(t *testing.T) {
	withoutKey := []string{
		"SetRateLimit", "CheckConfig", "CheckSettings", "RestoreBaseFiles", "RestoreProject", "CreateLink", "Invite",
		"StartDevice", "DeviceToken",
	}
	for _, c := range calls() {
		if c.method != http.MethodPost || slices.Contains(withoutKey, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var keys []string
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
					keys = append(keys, r.Header.Get("Idempotency-Key"))
					if n%3 != 0 {
						lose(w, r)
						return
					}
					c.success(w)
				})
				for range 2 {
					if err := c.do(t.Context(), b.Client); err != nil {
						t.Fatal(err)
					}
				}
				if len(keys) != 6 || len(slices.Compact(slices.Clone(keys))) != 2 || len(keys[0]) < 20 {
					t.Errorf("the keys are %q", keys)
				}
			})
		})
	}
}

func TestUploadAPI_KeyFollowsFromAccountContentAndPurpose(t *testing.T) {
	var keys []string
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			answer(w, 201, wire.API{API: project})
		})
		for _, args := range [][3]string{
			{"acme", "openapi", "web"}, {"acme", "openapi", "web"},
			{"other", "openapi", "web"}, {"acme", "openapi2", "web"}, {"acme", "openapi", "shop"}, {"acmeopenapi", "", "web"},
			{"acme", "openapi", ""},
		} {
			if _, err := b.UploadAPI(t.Context(), args[0], hubclient.Description{Document: []byte(args[1])},
				args[2]); err != nil {
				t.Fatal(err)
			}
			if _, err := b.ImportAPI(t.Context(), wire.ImportAPI{Account: args[0], URL: args[1]}, args[2]); err != nil {
				t.Fatal(err)
			}
		}
	})
	if keys[0] != keys[2] || keys[1] != keys[3] {
		t.Errorf("the same registration has two keys: %q", keys)
	}
	for _, path := range []int{0, 1} {
		seen := map[string]bool{}
		for i := 2 + path; i < len(keys); i += 2 {
			seen[keys[i]] = true
		}
		if len(seen) != 6 {
			t.Errorf("%d keys of 6 registrations: %q", len(seen), keys)
		}
	}
}

func TestRetry_SendsWholeBody(t *testing.T) {
	for _, c := range calls() {
		if c.method == http.MethodGet || c.method == http.MethodDelete ||
			slices.Contains([]string{"CreateBot", "UpdateAPIFrom", "RestoreProject"}, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					if bodies = append(bodies, string(body)); n < 3 {
						hijack(w).Close()
						return
					}
					c.success(w)
				})
				if err := c.do(t.Context(), b.Client); err != nil {
					t.Fatal(err)
				}
				if len(bodies) != 3 || bodies[0] == "" || bodies[0] != bodies[1] || bodies[1] != bodies[2] {
					t.Errorf("the bodies are %q", bodies)
				}
			})
		})
	}
}

func TestRetry_ObeysRetryAfter(t *testing.T) {
	for _, test := range []struct {
		header string // with %date: 7 seconds from now
		wait   time.Duration
	}{{"3", 3 * time.Second}, {"60", time.Minute}, {"%date", 7 * time.Second}} {
		t.Run(test.header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, n int) {
					if n == 1 {
						date := time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat)
						w.Header().Set("Retry-After", strings.ReplaceAll(test.header, "%date", date))
						refuse(w, 503, wire.CodeUnavailable)
						return
					}
					answer(w, 200, wire.Whoami{User: "alice"})
				})
				var err error
				if took := elapsed(func() { _, err = b.Whoami(t.Context()) }); err != nil || took != test.wait {
					t.Errorf("the second attempt came after %v: %v", took, err)
				}
			})
		})
	}
}

func TestRetry_IgnoresInvalidRetryAfter(t *testing.T) {
	for _, header := range []string{"", "0", "-5", "+5", "soon", "1.5", "Mon, 01 Jan 1990 00:00:00 GMT"} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					w.Header().Set("Retry-After", header)
					refuse(w, 429, wire.CodeRateLimited)
					return
				}
				answer(w, 200, wire.Whoami{User: "alice"})
			})
			var err error
			took := elapsed(func() { _, err = b.Whoami(t.Context()) })
			if err != nil || b.requests.Load() != 2 || took < 100*time.Millisecond {
				t.Errorf("%q: %d requests in %v, %v", header, b.requests.Load(), took, err)
			}
		})
	}
}

func TestRetry_LongRetryAfterFailsWithTime(t *testing.T) {
	for header, after := range map[string]time.Duration{
		"61":                            61 * time.Second,
		"1000000000":                    1_000_000_000 * time.Second,
		strings.Repeat("9", 100):        (1<<31 - 1) * time.Second,
		"Sat, 01 Jan 2000 12:00:00 GMT": 12 * time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Retry-After", header)
				refuse(w, 429, wire.CodeRateLimited)
			})
			var err error
			took := elapsed(func() { _, err = b.Whoami(t.Context()) })
			e := wantCode(t, err, wire.CodeRateLimited)
			moment := time.Now().Add(after).Format("15:04:05 on 2 January 2006")
			if took != 0 || b.requests.Load() != 1 || !strings.Contains(e.Hint, moment) || e.After != after {
				t.Errorf("after %v and %d requests: %q, after %v", took, b.requests.Load(), e.Hint, e.After)
			}
		})
	}
}

func TestRetry_EndsAfterTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{Origin: origin, Timeout: timeout},
				func(w http.ResponseWriter, _ *http.Request, _ int) {
					refuse(w, 503, wire.CodeUnavailable)
				})
			var err error
			took := elapsed(func() { _, err = b.Whoami(t.Context()) })
			wantCode(t, err, wire.CodeUnavailable)
			if n := b.requests.Load(); took > timeout || n < 3 || n > 30 {
				t.Errorf("%d requests in %v, want them within %v", n, took, timeout)
			}
		})
	}
}

// What an attempt took while it moved is not taken from the time for the next.
func TestRetry_BrokenUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files, _ := filesOf(map[string]string{"a": strings.Repeat("x", 1000)})
		slow := func(tree.Entry) (io.ReadCloser, error) {
			pass(t.Context(), time.Minute-time.Second)
			return io.NopCloser(strings.NewReader(strings.Repeat("x", 1000))), nil
		}
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if io.Copy(io.Discard, r.Body); n < 3 {
				hijack(w).Close()
				return
			}
			answer(w, 200, wire.BaseFilesWritten{Project: project})
		})
		if _, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: slow}).Put(
			t.Context()); err != nil || b.requests.Load() != 3 {
			t.Errorf("%d requests, %v", b.requests.Load(), err)
		}
	})
}

func TestRetry_BackoffGrowsWithJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		firsts := map[time.Duration]bool{}
		for range 20 {
			var times []time.Time
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, n int) {
				if times = append(times, time.Now()); n < 4 {
					refuse(w, 503, wire.CodeUnavailable)
					return
				}
				answer(w, 200, wire.Whoami{User: "alice"})
			})
			if _, err := b.Whoami(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i, middle := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond} {
				if wait := times[i+1].Sub(times[i]); wait < middle/2 || wait > middle*3/2+1 {
					t.Errorf("wait %d is %v, want it about %v", i, wait, middle)
				}
			}
			firsts[times[1].Sub(times[0])] = true
		}
		if len(firsts) < 10 {
			t.Errorf("20 calls waited only %d different times", len(firsts))
		}
	})
}

func TestCall_CancelEndsAtOnce(t *testing.T) {
	files, _ := filesOf(map[string]string{"a": "x"})
	for name, test := range map[string]struct {
		answer handler
		open   func(context.Context) error
	}{
		"while it waits to try again": {answer: func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Retry-After", "30")
			refuse(w, 503, wire.CodeUnavailable)
		}},
		"while the hub is silent": {answer: func(_ http.ResponseWriter, r *http.Request, _ int) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}},
		"while the hub asks for no body": {answer: func(_ http.ResponseWriter, r *http.Request,
			_ int) {
			<-r.Context().Done()
		}},
		"while the answer trickles": {answer: func(w http.ResponseWriter, r *http.Request, _ int) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Hub-Version", "1.2.3")
			for r.Context().Err() == nil {
				io.WriteString(w, " ")
				http.NewResponseController(w).Flush()
				pass(r.Context(), time.Second)
			}
		}},
		"while a file is opened": {
			answer: func(_ http.ResponseWriter, r *http.Request, _ int) { io.Copy(io.Discard, r.Body) },
			open:   func(ctx context.Context) error { pass(ctx, time.Hour); return errors.New("too late") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, test.answer)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second+time.Millisecond, cancel)
				open := func(tree.Entry) (io.ReadCloser, error) {
					if test.open != nil {
						return nil, test.open(t.Context())
					}
					return io.NopCloser(strings.NewReader("x")), nil
				}
				var err error
				took := elapsed(func() {
					_, err = b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(ctx)
				})
				if !errors.Is(err, context.Canceled) || took != 10*time.Second+time.Millisecond {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

func TestCall_CancelledBeforeStartSendsNothing(t *testing.T) {
	for _, c := range allCalls() {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, _ int) { c.success(w) })
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.do(ctx, b.Client); err != context.Canceled || b.requests.Load() != 0 {
				t.Errorf("%s: %d requests, %v", c.name, b.requests.Load(), err)
			}
		})
	}
}

func TestRetry_SendsOnceWhatTheHubWouldDoAgain(t *testing.T) {
	for _, c := range onceCalls() {
		for _, f := range faults() {
			if f.dial != nil {
				continue
			}
			t.Run(c.name+"/"+f.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newHub(t, hubclient.Options{}, f.answer)
					if err := c.do(t.Context(), b.Client); err == nil || b.requests.Load() != 1 {
						t.Errorf("%d requests, %v", b.requests.Load(), err)
					}
				})
			})
		}
		t.Run(c.name+"/refused", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
					w.Header().Set("Retry-After", "7")
					refuse(w, 429, wire.CodeRateLimited)
				})
				if e := wantCode(t, c.do(t.Context(), b.Client), wire.CodeRateLimited); e.After != 7*time.Second ||
					b.requests.Load() != 1 {
					t.Errorf("%d requests, come back after %v", b.requests.Load(), e.After)
				}
			})
		})
	}
}
