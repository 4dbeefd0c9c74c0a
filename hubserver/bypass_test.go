package hubserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// oddTargets are spellings of the addresses of a private project's config and page, and ways
// to them through what is open to everyone, each as the first line of a request has it.
var oddTargets = []string{
	"//v1/projects/acme/web/config", "/v1//projects/acme/web/config", "/v1/projects//acme/web/config",
	"/v1/projects/acme//web/config", "/v1/projects/acme/web//config", "/v1/./projects/acme/web/config",
	"/healthz/../v1/projects/acme/web/config", "/static/../v1/projects/acme/web/config",
	"/static/..%2fv1/projects/acme/web/config", "/schema/../v1/projects/acme/web/config",
	"/%2e%2e/v1/projects/acme/web/config", "/static/%2e%2e/v1/projects/acme/web/config",
	"/v1/projects/sam/../acme/web/config", "/v1/projects/sam/..%2facme/web/config",
	"/v1/projects/sam%2f..%2facme/web/config", "/v1/projects/acme%2fweb/config", "/v1/projects/acme/web%2fconfig",
	"/v1/projects/acme/web/config%2f", "/v1/projects/acme%252fweb/config",
	"/v1/projects/acme/web/config/", "/v1/projects/acme/web/config;", "/v1/projects/acme/web;/config",
	"/v1/projects/acme/web;a=b/config", "/v1/projects/acme/web/..;/web/config", "/v1/projects/sam/..;/acme/web/config",
	"/v1/projects/acme./web/config", "/v1/projects/acme/web./config", "/v1/projects/acme/web/config.",
	"/v1/projects/acme/web/config.json",
	"/v1/projects/acme/web/config%00", "/v1/projects/acme/web%00/config", "/v1/projects/acme/web/config%20",
	"/v1/projects/acme/web/config%0a", "/v1/projects/acme/web/config%09", "/V1/PROJECTS/acme/web/config",
	"/v1/projects/ACME/web/config", "/v1/projects/acme/WEB/config",
	"/v1/projects/%61cme/web/config", "/v1/projects/acme/%77eb/config", "/v1/projects/%61%63%6d%65/%77%65%62/%63onfig",
	"/%76%31/projects/acme/web/config", "/v1/projects/acme/web/config?account=sam",
	"/v1/projects/acme/web/config?account=sam&slug=web", "/v1/projects/acme/web/config?visibility=public",
	"/v1/projects/acme/web/config#/healthz",
	"/v1\\projects\\acme\\web\\config", "/v1/projects/acme\\web/config", "/v1/projects/acme%5cweb/config",
	"/v1/projects/acme%c0%afweb/config", "/v1/projects/acme%ef%bc%8fweb/config", "/v1/projects/acme/web/..%5cweb/config",
	"//hub.test/v1/projects/acme/web/config", "http://hub.test/v1/projects/acme/web/config",
	"http://127.0.0.1/v1/projects/acme/web/config", "https://admin:x@hub.test/v1/projects/acme/web/config",
	"/@acme/web/", "//@acme/web", "/%40acme/web", "/@acme%2fweb", "/@sam/../@acme/web", "/@acme/web;", "/@acme/web/.",
	"/@acme/./web", "/@Acme/web", "/@acme/web/history/", "/preview/frame/../../@acme/web", "/link/../@acme/web",
	"/sign-in/..;/@acme/web",
}

// oddHeaders are headers by which some servers take another method, path or address than
// those of the request.
var oddHeaders = []string{
	"X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE", "X-Original-Method: DELETE",
	"X-Original-URL: /v1/projects/acme/web", "X-Rewrite-URL: /v1/projects/acme/web/config",
	"X-Forwarded-Path: /v1/projects/acme/web/config",
	"X-Forwarded-Prefix: /v1/projects/acme/web", "X-Forwarded-Uri: /v1/projects/acme/web/config",
	"X-Forwarded-For: 127.0.0.1", "X-Real-Ip: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Forwarded-Host: localhost",
	"X-Remote-User: anna", "X-Forwarded-User: anna", "X-Auth-Request-User: anna", "Remote-User: anna", "Via: 1.1 admin",
	"X-Forwarded-Proto: https",
}

// With odd paths, methods and headers, too, a caller without rights reads and
// changes nothing: the path that decides who may is the one that the handler sees.
func TestBypass_OddPathsMethodsAndHeaders(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"secret": "nightingale"}`)
		callers := map[string]string{"nobody": "", "a stranger": hub.as("sam").token}
		reader := hub.as("rita").token
		before := hub.dump()
		cases := 0
		try := func(who, token, method, target, more string) {
			t.Helper()
			cases++
			status, text := hub.raw(fmt.Sprintf(
				"%s %s HTTP/1.1\r\nHost: hub.test\r\n%sConnection: close\r\nContent-Length: 0\r\n%s\r\n", method, target,
				authorization(token), more))
			if strings.Contains(text, "nightingale") && token != reader {
				t.Errorf("%s reads the config by %s %s %s", who, method, target, more)
			}
			if status >= 500 && status != http.StatusNotImplemented {
				t.Errorf("%s: %s %s %s: %d %.300s", who, method, target, more, status, text)
			}
		}
		for who, token := range callers {
			for _, target := range oddTargets {
				for _, method := range []string{"GET", "HEAD", "DELETE"} {
					try(who, token, method, target, "")
				}
			}
			for _, method := range []string{"TRACE", "CONNECT", "OPTIONS", "PROPFIND", "get", "Get", "GETS", "G\x01T", "BREW",
				"DEBUG", "TRACK"} {
				try(who, token, method, config, "")
			}
			for _, h := range oddHeaders {
				for _, target := range []string{"/healthz", "/v1/whoami", "/@sam", config, web} {
					try(who, token, "GET", target, h+"\r\n")
					try(who, token, "POST", target, h+"\r\n")
				}
			}
		}
		for _, h := range oddHeaders { // a reader writes by no override
			try("a reader", reader, "GET", web, h+"\r\n")
			try("a reader", reader, "POST", clientCfg, h+"\r\n")
		}
		if after := hub.dump(); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		t.Logf("%d requests, %d targets, %d headers", cases, len(oddTargets), len(oddHeaders))
	})
}

func authorization(token string) string {
	if token == "" {
		return ""
	}
	return "Authorization: Bearer " + token + "\r\n"
}

// raw sends a request as it is, and returns the status, 0 for none, and all that came back.
func (h *testHub) raw(request string) (status int, text string) {
	h.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		h.Fatal(err)
	}
	answer, _ := io.ReadAll(conn) // a connection that is reset has said what it said
	if resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(string(answer))), nil); err == nil {
		status = resp.StatusCode
	}
	return status, string(answer)
}
