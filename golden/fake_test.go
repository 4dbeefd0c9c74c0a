package golden_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// fakes are what a hub's address can lead to that is no hub, or not today.
var fakes = map[string]http.HandlerFunc{
	"html": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "<!DOCTYPE html><title>Welcome</title>")
	},
	"schema": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}`)
	},
	"missing": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
	"redirect": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://sso.example.com/sign-in", http.StatusFound)
	},
	"loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
	"hangup": func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	},
	"away": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<h1>Bad gateway</h1>", http.StatusBadGateway)
	},
	"busy": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "86400")
		http.Error(w, "later", http.StatusTooManyRequests)
	},
	"endless": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Hub-Version", "1")
		for {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<20)); err != nil {
				return
			}
		}
	},
	"deep": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Hub-Version", "1")
		io.WriteString(w, strings.Repeat("[", 1<<20))
	},
	// A problem as a hub answers it, but with what a terminal would act on.
	"hostile": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Hub-Version", "1")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"type":"about:blank","title":"t","status":403,"code":"not_permitted",`+
			`"detail":"red \u001b[31m, \u202egnp.exe, \u009b2J and a\nsecond line","hint":"\u0007ring","requestId":"\u001b]0;x\u0007"}`)
	},
	"later": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Hub-Version", "9.0.0")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"status":404,"code":"unknown_route","detail":"this hub has no route","requestId":""}`)
	},
	"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
}

// fake starts one of fakes, or garbage or tls, and returns its address.
func fake(t testing.TB, kind string) string {
	t.Helper()
	var server *httptest.Server
	switch handler := fakes[kind]; {
	case kind == "garbage":
		return garbage(t)
	case kind == "tls":
		server = httptest.NewUnstartedServer(fakes["html"])
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail as they should
		server.StartTLS()
	case handler == nil:
		t.Fatalf("there is no fake %s", kind)
	default:
		server = httptest.NewServer(handler)
	}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// garbage speaks no HTTP.
func garbage(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn.Read(make([]byte, 1))
				io.WriteString(conn, "220 mail.example.com ESMTP \x1b[31m\r\n")
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

// edit changes the config of a project by a PATCH, as other editors do.
func edit(ts *testscript.TestScript, token, project, body string) {
	address := ts.Getenv("ORIGIN") + "/v1/projects/" + strings.TrimPrefix(project, "@") + "/config"
	ts.Check(patch(address, token, body))
}

func patch(address, token, body string) error {
	head, err := request("HEAD", address, token, "", "")
	if err != nil {
		return err
	}
	_, err = request("PATCH", address, token, head.Get("ETag"), body)
	return err
}

// request makes a call that has to succeed, and returns the answer's header.
func request(method, address, token, match, body string) (http.Header, error) {
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	if match != "" {
		r.Header.Set("If-Match", match)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return nil, fmt.Errorf("%s %s: %s: %s", method, address, resp.Status, text)
	}
	return resp.Header, nil
}
