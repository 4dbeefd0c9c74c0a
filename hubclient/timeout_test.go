package hubclient_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// silent reads the request and says nothing.
func silent(_ http.ResponseWriter, r *http.Request, _ int) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestTimeout_SilentCallFailsWithoutRetry(t *testing.T) {
	for _, c := range allCalls() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, silent)
				var err error
				took := elapsed(func() { err = c.do(t.Context(), b.Client) })
				e := wantCode(t, err, hubclient.CodeTimeout)
				if took != hubclient.DefaultTimeout || b.requests.Load() != 1 || e.Detail != origin+" did not answer within 1m0s" {
					t.Errorf("after %v and %d requests: %v", took, b.requests.Load(), err)
				}
				if says := strings.Contains(e.Hint, "may have been applied"); says != c.write {
					t.Errorf("%s: the hint is %q", c.method, e.Hint)
				}
			})
		})
	}
}

func TestTimeout_StalledResponse(t *testing.T) {
	for name, begun := range map[string]string{
		"before the header": "HTTP/1.1 200 OK\r\n",
		"in the header":     "HTTP/1.1 200 OK\r\nHub-Version: 1\r\n",
		"in the body":       "HTTP/1.1 200 OK\r\nHub-Version: 1\r\nContent-Length: 10\r\n\r\n{",
		"between pieces":    "HTTP/1.1 200 OK\r\nHub-Version: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{Origin: origin, Timeout: 5 * time.Second},
					func(w http.ResponseWriter, r *http.Request, _ int) {
						conn := hijack(w)
						defer conn.Close()
						io.WriteString(conn, begun)
						<-r.Context().Done()
					})
				var err error
				took := elapsed(func() { _, err = b.Whoami(t.Context()) })
				wantCode(t, err, hubclient.CodeTimeout)
				if took != 5*time.Second {
					t.Errorf("after %v", took)
				}
			})
		})
	}
}

func TestTimeout_FailedConnectAppliesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, nil)
		b.dial = func(context.Context, string) (net.Conn, error) { return nil, dialFault(os.ErrDeadlineExceeded) }
		_, err := b.DeleteProject(t.Context(), project)
		if e := wantCode(t, err, hubclient.CodeTimeout); e.Hint != "" {
			t.Errorf("the hint is %q", e.Hint)
		}
	})
}

func TestTimeout_StalledHandshake(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // its queue accepts connections for it
	c, err := hubclient.New(hubclient.Options{Origin: "https://" + listener.Addr().String(),
		Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.DeleteProject(t.Context(), project)
	if e := wantCode(t, err, hubclient.CodeTimeout); e.Hint != "" {
		t.Errorf("the hint is %q", e.Hint)
	}
}

func TestTimeout_SlowDownloadIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("Hub-Version", "1")
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			for _, c := range `{"user":"alice"}` {
				io.WriteString(w, string(c))
				http.NewResponseController(w).Flush()
				pass(r.Context(), 50*time.Second)
			}
		})
		var me *wire.Whoami
		var err error
		took := elapsed(func() { me, err = b.Whoami(t.Context()) })
		if err != nil || me.User != "alice" || took < 10*time.Minute {
			t.Errorf("after %v: %+v, %v", took, me, err)
		}
	})
}

func TestTimeout_SlowUploadIsAllowed(t *testing.T) {
	noise := make([]byte, 256<<10) // nothing that compresses
	rand.Read(noise)
	files, open := filesOf(map[string]string{"noise": string(noise)})
	for name, do := range map[string]func(context.Context, *hubclient.Client) error{
		"a document": func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.UploadAPI(ctx, "acme", hubclient.Description{Document: noise}, "")
			return err
		},
		"an archive": func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
					for {
						if _, err := io.ReadFull(r.Body, make([]byte, 2<<10)); err != nil {
							break
						}
						pass(r.Context(), 5*time.Second)
					}
					answer(w, 201, struct{}{})
				})
				var err error
				if took := elapsed(func() { err = do(t.Context(), b.Client) }); hubclient.HasCode(err, hubclient.CodeTimeout) ||
					took < 10*time.Minute {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

func TestTimeout_UploadNotReadByHub(t *testing.T) {
	noise := make([]byte, 300_000)
	rand.Read(noise)
	files, open := filesOf(map[string]string{"noise": string(noise)})
	for range 30 { // either direction may be late first
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(_ http.ResponseWriter, r *http.Request, _ int) {
				io.ReadFull(r.Body, make([]byte, 100_000))
				<-r.Context().Done()
			})
			var err error
			took := elapsed(func() {
				_, err = b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(t.Context())
			})
			e := wantCode(t, err, hubclient.CodeTimeout)
			if took != hubclient.DefaultTimeout || b.requests.Load() != 1 || !strings.Contains(e.Hint, "may have been applied") {
				t.Errorf("after %v and %d requests: %v, %q", took, b.requests.Load(), err, e.Hint)
			}
		})
	}
}

// A hub, or a proxy in front of it, may ignore Expect.
func TestUpload_SendsBodyWithoutContinue(t *testing.T) {
	files, open := filesOf(map[string]string{"large": strings.Repeat("x", 100_000)})
	for _, timeout := range []time.Duration{4 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{Origin: origin, Timeout: timeout},
				func(w http.ResponseWriter, _ *http.Request, _ int) {
					conn := hijack(w)
					defer conn.Close()
					body := ""
					for lines := bufio.NewScanner(conn); !strings.HasSuffix(body, "\n0\n\n") && lines.Scan(); {
						body += lines.Text() + "\n"
					}
					io.WriteString(conn,
						"HTTP/1.1 200 OK\r\nHub-Version: 1\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{}")
				})
			err := uploads["a bundle"].do(t.Context(), b.Client, files, open)
			// The answer lacks its version, which shows that it arrived.
			wantCode(t, err, hubclient.CodeNotAHub)
			if b.requests.Load() != 1 {
				t.Errorf("%d requests, %v", b.requests.Load(), err)
			}
		})
	}
}

func TestTimeout_IdleConnectionDoesNotFailLaterCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		opts := hubclient.Options{Origin: origin, Timeout: time.Minute, Trace: func(hubclient.Attempt) { attempts++ }}
		b := newHub(t, opts, func(w http.ResponseWriter, _ *http.Request,
			_ int) {
			answer(w, 200, wire.Deleted{Project: project})
		})
		const n = 10
		for i := range n {
			if _, err := b.DeleteProject(t.Context(), project); err != nil {
				t.Fatal(err)
			}
			pass(t.Context(), time.Duration(i)*10*time.Second)
		}
		if attempts != n {
			t.Errorf("%d attempts for %d calls", attempts, n)
		}
	})
}

func TestCall_ReplacesClosedConnection(t *testing.T) {
	for _, c := range calls() {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
				if n%2 == 0 { // the second request of a connection
					hijack(w).Close()
					return
				}
				io.Copy(io.Discard, r.Body)
				c.success(w)
			})
			for range 2 {
				if err := c.do(t.Context(), b.Client); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		})
	}
}

func TestTimeout_AbandonedWriteIsAmbiguous(t *testing.T) {
	for _, c := range allCalls() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
					io.Copy(io.Discard, r.Body)
					cancel()
					<-r.Context().Done()
				})
				err := c.do(ctx, b.Client)
				if hubclient.Unsettled(err) != c.write || !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v, unsettled: %t", c.method, err, hubclient.Unsettled(err))
				}
				if err := c.do(ctx, b.Client); hubclient.Unsettled(err) {
					t.Errorf("nothing was sent, but it is unsettled: %v", err)
				}
			})
		})
	}
}
