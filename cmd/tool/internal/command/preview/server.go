package preview

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"fmt"
	"html"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/hubserver/page/static"
)

//go:embed page
var files embed.FS

const (
	patience   = 25 * time.Second // for which a question for changes is left open
	maxAsking  = 16               // open questions at a time
	maxHeader  = 16 << 10         // bytes
	headerTime = 5 * time.Second
	kept       = 8 // snapshots whose digests are remembered
)

// failed is why the working tree cannot be shown.
type failed struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
}

// state is what a page shows.
type state struct {
	n int
	*snapshot
	failed *failed
}

// known are the digests of what a page was sent.
type known struct {
	revision, stack string
	api             [32]byte
	files           map[string]string
}

// server serves one preview to browsers of this machine. All but the frame, which is
// the same for everyone, is below a path that nobody can guess.
type server struct {
	name      string // of the local project
	token     string
	code      string // for one redirect to the page, because others see how a browser is started
	used      atomic.Bool
	page      string // host of the page
	frame     string // host of the frame, another one
	asking    chan struct{}
	listeners []net.Listener

	mu      sync.Mutex
	now     state
	changed chan struct{} // closed when now is replaced
	sent    map[int]known // by the number of the state
}

// newServer returns a server at a random port of this machine.
func newServer(name string) (*server, error) {
	s := &server{
		name: name, token: rand.Text(), code: rand.Text(), asking: make(chan struct{}, maxAsking),
		changed: make(chan struct{}), sent: map[int]known{},
	}
	var err error
	for range 10 { // until a port is free for both addresses that localhost may be
		if err = s.listen(); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("listen on 127.0.0.1: %w", err)
}

// listen takes a port of 127.0.0.1, and of ::1 where that exists: if it were left to
// another program, that program could be what a browser takes for localhost.
func (s *server) listen() error {
	four, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.listeners = []net.Listener{four}
	port := strconv.Itoa(four.Addr().(*net.TCPAddr).Port)
	if hasIPv6() {
		six, err := net.Listen("tcp6", net.JoinHostPort("::1", port))
		if err != nil {
			four.Close()
			return err
		}
		s.listeners = append(s.listeners, six)
	}
	s.page, s.frame = net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port)
	return nil
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// origin returns that of the page.
func (s *server) origin() string { return "http://" + s.page }

// address returns the page's address.
func (s *server) address() string { return s.origin() + "/" + s.token + "/" }

// link returns an address that leads to the page once.
func (s *server) link() string { return s.origin() + "/open/" + s.code }

// serve serves until ctx ends.
func (s *server) serve(ctx context.Context) error {
	serving := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, IdleTimeout: time.Minute, WriteTimeout: 2 * patience, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
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
func (s *server) show(now *snapshot, f *failed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = state{s.now.n + 1, now, f}
	if now != nil {
		s.sent[s.now.n] = known{now.revision, now.stack.Digest, now.apiSum, digests(now.files)}
	}
	delete(s.sent, s.now.n-kept)
	close(s.changed)
	s.changed = make(chan struct{})
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
	case r.Host == s.frame:
		s.serveFrame(w, r)
	case r.Host == s.page:
		s.servePage(w, r)
	default: // a name that somebody made lead here
		http.Error(w, "this server is not "+html.EscapeString(r.Host), http.StatusMisdirectedRequest)
	}
}

// serveFrame serves the host of the frame, as the hub does.
func (s *server) serveFrame(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/preview/frame":
		w.Header().Set("Content-Security-Policy", preview.Policy("http://"+s.frame, "http://"+s.page))
		write(w, "text/html; charset=utf-8", preview.Frame())
	case "/static/" + preview.Script.Name:
		writeZipped(w, r, "text/javascript; charset=utf-8", preview.Script)
	default:
		http.NotFound(w, r)
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
		s.redirect(w, r)
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
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; "+
		"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; frame-src http://"+s.frame)
	switch name {
	case "":
		s.serveIndex(w)
	case "changes":
		s.serveChanges(w, r)
	case "packages.json":
		writeZipped(w, r, "application/json", preview.Packages)
	default:
		serveFile(w, r, name)
	}
}

// redirect leads the first caller to the page.
func (s *server) redirect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !s.used.CompareAndSwap(false, true) {
		http.Error(w, "this link was used: open the address that tool printed", http.StatusGone)
		return
	}
	http.Redirect(w, r, "/"+s.token+"/", http.StatusSeeOther)
}

func (s *server) serveIndex(w http.ResponseWriter) {
	index, err := files.ReadFile("page/index.html")
	if err != nil {
		panic(err) // it is embedded
	}
	name := html.EscapeString(s.name)
	write(w, "text/html; charset=utf-8", []byte(strings.NewReplacer("{{name}}", name, "{{frame}}", "http://"+s.frame+"/preview/frame").Replace(string(index))))
}

var mediaTypes = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// serveFile serves a script or style sheet of the page, none of the project.
func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	mediaType := mediaTypes[path.Ext(name)]
	content, err := fs.ReadFile(static.Preview, name)
	if err != nil {
		content, err = fs.ReadFile(files, "page/"+name)
	}
	if err != nil || mediaType == "" {
		http.NotFound(w, r)
		return
	}
	write(w, mediaType, content)
}

func write(w http.ResponseWriter, mediaType string, content []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // a browser that left needs nothing
}

func writeZipped(w http.ResponseWriter, r *http.Request, mediaType string, f preview.File) {
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		write(w, mediaType, f.Gzipped)
		return
	}
	write(w, mediaType, f.Content())
}

// changes is the first line of a response that says what changed; the contents of the
// files follow it, in their order, those of the stack first.
type changes struct {
	N        int            `json:"n"`
	Failed   *failed        `json:"failed,omitzero"`
	Revision string         `json:"revision,omitzero"`
	Tree     string         `json:"tree,omitzero"`
	Config   jsontext.Value `json:"config,omitzero"`
	API      string         `json:"api,omitzero"`
	Stack    *stack         `json:"stack,omitzero"`
	Imports  []sentFile     `json:"imports,omitzero"` // of the stack
	All      bool           `json:"all"`              // files are all files, not only those that changed
	Files    []sentFile     `json:"files"`
	Removed  []string       `json:"removed"`
}

type sentFile struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	Large bool   `json:"large,omitzero"` // too large for a preview: its content is not sent
}

// serveChanges responds with what changed since the state that the page has, when there
// is something.
func (s *server) serveChanges(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.Atoi(r.URL.Query().Get("after"))
	if err != nil {
		http.Error(w, "after is a number", http.StatusBadRequest)
		return
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	default:
		http.Error(w, "too many pages show this preview", http.StatusServiceUnavailable)
		return
	}
	now, before, ok := s.newer(r.Context(), after)
	if !ok {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	first, contents := changesOf(now, before)
	line, err := json.Marshal(first)
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

// newer waits for a state after that number. before is what was sent with it, nil for
// what is no longer known.
func (s *server) newer(ctx context.Context, after int) (now state, before *known, ok bool) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		s.mu.Lock()
		now, changed := s.now, s.changed
		if had, found := s.sent[after]; found {
			before = &had
		}
		s.mu.Unlock()
		if now.n != after && now.n > 0 {
			return now, before, true
		}
		select {
		case <-changed:
		case <-over.C:
			return now, nil, false
		case <-ctx.Done():
			return now, nil, false
		}
	}
}

func changesOf(now state, before *known) (c changes, contents [][]byte) {
	c = changes{N: now.n, Failed: now.failed, All: before == nil, Files: []sentFile{}, Removed: []string{}}
	if now.snapshot == nil {
		return c, nil
	}
	if before == nil {
		before = &known{}
	}
	add := func(list *[]sentFile, path string, f file) {
		*list = append(*list, sentFile{path, f.size, f.content == nil})
		contents = append(contents, f.content)
	}
	c.Revision, c.Tree = now.revision, now.tree
	if now.revision != before.revision {
		c.Config = now.config
	}
	if now.apiSum != before.api {
		c.API = string(now.api)
	}
	if now.stack.Digest != before.stack {
		c.Stack = &now.stack
		for _, path := range paths(now.stack.files) {
			add(&c.Imports, path, now.stack.files[path])
		}
	}
	for _, path := range paths(now.files) {
		f := now.files[path]
		if had, ok := before.files[path]; !ok || had != f.sha256 {
			add(&c.Files, path, f)
		}
	}
	for _, path := range paths(before.files) {
		if _, ok := now.files[path]; !ok {
			c.Removed = append(c.Removed, path)
		}
	}
	return c, contents
}
