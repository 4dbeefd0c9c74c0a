package preview

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"fmt"
	"html"
	"maps"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/hubserver/page/static"
)

//go:embed page/index.html
var index string

//go:embed page/local.js
var script []byte

const (
	pollTime   = 25 * time.Second // a request for changes is answered then at the latest
	maxHeader  = 16 << 10         // bytes
	headerTime = 5 * time.Second  // to read the header of a request
)

// server serves one preview to browsers of this machine. All but the frame, which is
// the same for everyone, is below a path that nobody can guess.
type server struct {
	name      string // of the local project
	token     string
	code      string      // /open/<code> leads to the page once, because others see how a browser is started
	used      atomic.Bool // code was used
	page      string      // host of the page
	frame     string      // host of the frame, another one
	listeners []net.Listener

	now atomic.Pointer[state]
}

// state is what a page shows.
type state struct {
	N      int     `json:"n"`
	Failed *failed `json:"failed,omitzero"`
	snapshot

	before   snapshot      // of state N-1
	replaced chan struct{} // closed when there is state N+1
}

// failed is why the working tree cannot be shown.
type failed struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
}

// newServer returns a server at a random port of this machine: of 127.0.0.1, and of ::1 where
// that exists. If that were left to another program, that program could be what a browser
// takes for localhost.
func newServer(name string) (*server, error) {
	s := &server{name: name, token: rand.Text(), code: rand.Text()}
	var err error
	for range 10 { // until a port is free for both
		port := "0"
		s.listeners = nil
		if six, err := net.Listen("tcp6", "[::1]:0"); err == nil {
			_, port, _ = net.SplitHostPort(six.Addr().String())
			s.listeners = append(s.listeners, six)
		}
		var four net.Listener
		if four, err = net.Listen("tcp4", "127.0.0.1:"+port); err == nil {
			s.listeners = append(s.listeners, four)
			s.page = four.Addr().String()
			s.frame = strings.Replace(s.page, "127.0.0.1", "localhost", 1)
			return s, nil
		}
		for _, l := range s.listeners {
			l.Close()
		}
	}
	return nil, fmt.Errorf("listen on 127.0.0.1: %w", err)
}

// origin returns that of the page.
func (s *server) origin() string { return "http://" + s.page }

// address returns the page's address.
func (s *server) address() string { return s.origin() + "/" + s.token + "/" }

// serve serves until ctx ends.
func (s *server) serve(ctx context.Context) error {
	serving := &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       time.Minute,
		WriteTimeout:      2 * pollTime,
	}
	ended := make(chan error, len(s.listeners))
	for _, l := range s.listeners {
		go func() { ended <- serving.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	serving.Close()
	return err
}

// show replaces what pages show. f is nil if the preview can be shown.
func (s *server) show(now snapshot, f *failed) {
	next := &state{N: 1, Failed: f, snapshot: now, replaced: make(chan struct{})}
	last := s.now.Load()
	if last != nil {
		next.N, next.before = last.N+1, last.snapshot
	}
	s.now.Store(next)
	if last != nil {
		close(last.replaced)
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "a preview is only read", http.StatusMethodNotAllowed)
	case r.Host == s.frame && r.URL.Path == "/preview/frame":
		preview.SetHeader(header, s.origin())
		write(w, ".html", preview.Frame.Content())
	case r.Host == s.frame:
		http.NotFound(w, r)
	case r.Host == s.page:
		s.servePage(w, r)
	default: // a name that somebody made lead here
		http.Error(w, "this server is not "+html.EscapeString(r.Host), http.StatusMisdirectedRequest)
	}
}

// servePage serves what is below the secret path, to the page itself and to a person who
// opens its address.
func (s *server) servePage(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	secret, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if secret == "open" && subtle.ConstantTimeCompare([]byte(name), []byte(s.code)) == 1 {
		if r.Method != http.MethodGet || !s.used.CompareAndSwap(false, true) {
			http.Error(w, "this link was used: open the address that tool printed", http.StatusGone)
			return
		}
		http.Redirect(w, r, "/"+s.token+"/", http.StatusSeeOther)
		return
	}
	if !ok || subtle.ConstantTimeCompare([]byte(secret), []byte(s.token)) != 1 {
		http.NotFound(w, r)
		return
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
		http.Error(w, "another site may not use this page", http.StatusForbidden)
		return
	}
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self' data:; "+
		"script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "+
		"frame-src http://"+s.frame)
	switch name {
	case "":
		fill := strings.NewReplacer("{{name}}", html.EscapeString(s.name), "{{frame}}", "http://"+s.frame+"/preview/frame")
		write(w, ".html", []byte(fill.Replace(index)))
	case "changes":
		s.serveChanges(w, r)
	case "packages.json":
		write(w, ".json", preview.Packages.Content())
	case "local.js":
		write(w, ".js", script)
	default:
		content, err := static.Preview.ReadFile(name) // none of the project
		if err != nil {
			http.NotFound(w, r)
			return
		}
		write(w, path.Ext(name), content)
	}
}

var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".json": "application/json",
}

func write(w http.ResponseWriter, extension string, content []byte) {
	w.Header().Set("Content-Type", mediaTypes[extension])
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // a browser that left needs nothing
}

// changes is the first line of a response about the working tree. The contents that the
// page lacks follow it, those of the stack's files first.
type changes struct {
	state
	Imports []listed `json:"imports"` // files of the stack
	Files   []listed `json:"files"`
}

type listed struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	Large bool   `json:"large,omitzero"` // too large for a preview: its content is not sent
	Same  bool   `json:"same,omitzero"`  // the page has its content
}

// serveChanges responds with the state that follows the one that the page has, when there
// is one.
func (s *server) serveChanges(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.Atoi(r.URL.Query().Get("after"))
	if err != nil {
		http.Error(w, "after is a number", http.StatusBadRequest)
		return
	}
	now := s.now.Load()
	if now.N == after {
		select {
		case <-now.replaced:
			now = s.now.Load()
		case <-time.After(pollTime):
			w.WriteHeader(http.StatusNoContent)
			return
		case <-r.Context().Done():
			return
		}
	}
	var before snapshot // what the page has; empty: nothing that is known
	if now.N == after+1 {
		before = now.before
	}
	var contents [][]byte
	list := func(files, had map[string]file) (all []listed) {
		for _, path := range slices.Sorted(maps.Keys(files)) {
			f := files[path]
			same := had[path].sha256 == f.sha256
			all = append(all, listed{
				Path:  path,
				Size:  f.size,
				Large: f.size > maxFile,
				Same:  same,
			})
			if !same {
				contents = append(contents, f.content)
			}
		}
		return all
	}
	line, err := json.Marshal(changes{
		state:   *now,
		Imports: list(now.Stack.files, before.Stack.files), // first: the contents follow in this order
		Files:   list(now.files, before.files),
	})
	if err != nil {
		http.Error(w, "the changes cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(append(line, '\n'))
	for _, content := range contents {
		_, _ = w.Write(content)
	}
}
