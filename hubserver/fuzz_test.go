package hubserver_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// fuzzed returns a function that asks a hub with @acme/web, without a network
// between them, and fails the test on an answer that the contract does not know,
// or that blames the hub.
func fuzzed(f *testing.F) func(t *testing.T, method, path string, body []byte, h header) *answer {
	f.Helper()
	hub := one(f, nil)
	hub.project()
	token := hub.as("alice").token
	return func(t *testing.T, method, path string, body []byte, h header) *answer {
		t.Helper()
		req, err := http.NewRequest(method, publicURL+path, bytes.NewReader(body))
		if err != nil {
			t.Skip(err)
		}
		method = req.Method // "" means GET
		req.Header.Set("Authorization", "Bearer "+token)
		for name, value := range h {
			req.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		hub.server.ServeHTTP(w, req.WithContext(t.Context()))
		a := &answer{t: t, call: method + " " + path, status: w.Code, header: w.Header(), body: w.Body.Bytes()}
		x := &exchange{method: method, path: req.URL.Path, query: req.URL.Query(), header: req.Header, body: body,
			status: a.status, answerHeader: a.header, answer: a.body}
		if method == http.MethodHead {
			x.answer = nil // the server would not send it
		}
		if strings.Contains(strings.ToUpper(req.URL.RawPath), "%2F") {
			x.path = req.URL.RawPath
		}
		x.hold(t)
		if a.status >= 500 {
			t.Errorf("status %d: %s", a.status, a.body)
		}
		return a
	}
}

func FuzzSettings(f *testing.F) {
	ask := fuzzed(f)
	for _, seed := range []string{`{}`, `{"a":{"b":[1,{}]},"c.d":null}`, `{"enrichments":[{}]}`, `[`,
		`{"a":1e400,"":"\u0000"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, settings []byte) {
		a := ask(t, "PUT", clientCfg, slices.Concat([]byte(`{"settings":`), settings, []byte(`}`)),
			header{"Content-Type": "application/json"})
		if a.status != 200 {
			return
		}
		w := decoded[wire.ConfigWritten](a)
		config, err := flat.Parse(w.Config)
		if err != nil || config.Revision() != w.Revision || a.etag() != `"`+w.Revision+`"` {
			t.Errorf("%s became %s of revision %s: %v", settings, w.Config, w.Revision, err)
		}
		if page := ask(t, "GET", "/@acme/web", nil, nil); page.status != 200 { // its owner sees it
			t.Errorf("the page: %d", page.status)
		}
	})
}

func FuzzPatch(f *testing.F) {
	ask := fuzzed(f)
	for _, seed := range []string{`{"set":{"a.b":1}}`, `{"remove":["a.b"]}`, `{"set":{"a":{}},"remove":["\\"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		ask(t, "PATCH", config, patch, header{"Content-Type": "application/json", "If-Match": "*"})
	})
}

func FuzzArchive(f *testing.F) {
	ask := fuzzed(f)
	small := tarOf(f, file{name: "a", content: "x"})
	f.Add(small, "")
	f.Add(gzipped(f, small), "application/gzip")
	f.Add(zstded(f, small), "application/zstd")
	f.Add(rawTar("../x", '2'), "application/x-tar")
	f.Fuzz(func(t *testing.T, data []byte, mediaType string) {
		h := header{}
		if mediaType != "" {
			h["Content-Type"] = mediaType
		}
		if a := ask(t, "PUT", baseFiles, data, h); a.status == 200 {
			pushed := decoded[wire.BaseFilesWritten](a)
			set := decoded[wire.BaseFiles](ask(t, "GET", baseFiles, nil, nil))
			if files := tarFiles(t, ask(t, "GET", baseFiles+"/archive", nil, nil).body); set.Tree != pushed.Tree ||
				len(files) != pushed.BaseFilesPushed {
				t.Errorf("%+v was pushed, %+v is there, %v comes back", pushed, set, files)
			}
		}
		ask(t, "PUT", site+"/versions/2.0.0", data, h)
	})
}

func FuzzUpload(f *testing.F) {
	ask := fuzzed(f)
	files := treeOf(f, map[string]string{"a": "alpha", "b": ""})
	f.Add(uploadOf(files, "alpha", "").data, "", false)
	f.Add(files.Canonical(), "alpha", true)
	f.Add([]byte("x\n"), "", true)
	f.Fuzz(func(t *testing.T, data []byte, content string, plain bool) {
		if plain { // or hardly anything would pass the compression
			data = upload(store.Compress(data), content).data
		}
		h := header{"Content-Type": wire.UploadType}
		if a := ask(t, "PUT", baseFiles, data, h); a.status == 200 {
			pushed := decoded[wire.BaseFilesWritten](a)
			if held := tarFiles(t, ask(t, "GET", baseFiles+"/archive", nil, nil).body); len(held) != pushed.BaseFilesPushed {
				t.Errorf("%+v was pushed, %v comes back", pushed, held)
			}
		}
	})
}

func FuzzPlan(f *testing.F) {
	ask := fuzzed(f)
	digest := strings.Repeat("0", 64)
	f.Add([]byte(`{"tree": "` + digest + `"}`))
	f.Add([]byte(`{"tree": "` + digest + `", "digests": ["` + digest + `", "x"]}`))
	f.Fuzz(func(t *testing.T, question []byte) {
		ask(t, "POST", plan, question, header{"Content-Type": "application/json"})
	})
}

func FuzzHeaders(f *testing.F) {
	ask := fuzzed(f)
	f.Add(`"x", W/"y"`, "*", "zstd;q=0.5, gzip", "key", "application/json", "gzip")
	f.Add(",", "", "zstd;q=", "\x7f", "a/b;c", "")
	f.Add("0", "", "0", "0", "", "")
	f.Fuzz(func(t *testing.T, match, noneMatch, accept, idempotency, mediaType, encoding string) {
		h := header{"If-Match": match, "If-None-Match": noneMatch, "Accept-Encoding": accept, "Idempotency-Key": idempotency,
			"Content-Type": mediaType}
		if encoding != "" { // an empty one counts as none, which the description cannot say
			h["Content-Encoding"] = encoding
		}
		ask(t, "GET", config, nil, header{"If-None-Match": noneMatch})
		ask(t, "GET", baseFiles+"/archive", nil, header{"If-None-Match": noneMatch, "Accept-Encoding": accept})
		ask(t, "PUT", clientCfg, []byte(`{}`), h)
		ask(t, "POST", "/v1/projects", []byte(`{}`), h)
		ask(t, "POST", "/v1/apis/upload", []byte(`{}`), h)
		ask(t, "PUT", baseFiles, []byte("x"), h)
	})
}

func FuzzPaths(f *testing.F) {
	ask := fuzzed(f)
	f.Add("GET", "/v1/projects/acme/web/config")
	f.Add("PUT", "/v1/stacks//%00/versions/1.0.0?x=%zz")
	f.Add("POST", "/v1/rate-limit?account=a;b&botId=%ff")
	f.Add("HEAD", "/@acme/%2e%2e")
	f.Add("OPTIONS", "/static//style.css")
	f.Fuzz(func(t *testing.T, method, path string) {
		if !strings.HasPrefix(path, "/") || method == "CONNECT" {
			t.Skip()
		}
		before, query, _ := strings.Cut(path, "?")
		if _, err := url.ParseQuery(query); err == nil { // parameters that no endpoint knows are ignored
			path = before
		}
		ask(t, method, path, nil, nil)
	})
}
