package golden_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// keep puts the first group of a pattern, in what the last command printed, into a variable.
func keep(ts *testscript.TestScript, variable, pattern string) {
	found := regexp.MustCompile(pattern).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("there is no %s in\n%s", pattern, ts.ReadFile("stdout"))
	}
	ts.Setenv(variable, found[1])
}

// shownFields are the header fields of a response that a transcript shows.
var shownFields = []string{"Location", "Retry-After", "RateLimit-Policy", "RateLimit"}

// call makes a call of the API with a token and shows the response.
func (s *script) call(ts *testscript.TestScript, token, method, path string) {
	r, err := http.NewRequest(method, ts.Getenv("ORIGIN")+path, http.NoBody)
	ts.Check(err)
	r.Header.Set("Authorization", "Bearer "+token)
	s.exchange(ts, http.DefaultClient, r, indent)
}

// submit sends a form of a page and shows where it leads or what the page says.
func (s *script) submit(ts *testscript.TestScript, browser *http.Client, path string, fields []string) {
	if strings.HasPrefix(path, "/v1/") { // a page calls the API
		r, err := http.NewRequest("POST", ts.Getenv("ORIGIN")+path, strings.NewReader(fields[0]))
		ts.Check(err)
		r.Header.Set("Content-Type", "application/json")
		s.exchange(ts, browser, r, indent)
		return
	}
	form := url.Values{}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		form.Add(name, value)
	}
	r, err := http.NewRequest("POST", ts.Getenv("ORIGIN")+path, strings.NewReader(form.Encode()))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	s.exchange(ts, browser, r, said)
}

func (s *script) exchange(ts *testscript.TestScript, browser *http.Client, r *http.Request,
	text func(body string) string) {
	client := &http.Client{Jar: browser.Jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	var out strings.Builder
	fmt.Fprintln(&out, resp.Status)
	for _, name := range shownFields {
		if value := resp.Header.Get(name); value != "" {
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	if shown := text(string(body)); shown != "" {
		fmt.Fprintln(&out, strings.TrimSpace(shown))
	}
	ts.Stdout().Write([]byte(out.String())) // for keep
	s.note(ts, r.Method+" "+r.URL.RequestURI(), out.String(), 0)
}

var message = regexp.MustCompile(`(?:role="alert"[^>]*|id="new-token"|<h1>This link does not work</h1>\s*<p)>([^<]*)`)

// said returns the message of a page, or the token that it shows once.
func said(page string) string {
	if found := message.FindStringSubmatch(page); found != nil {
		return found[1]
	}
	return ""
}

// expireLinks ends the time in which the links of the hub can be used.
func (s *script) expireLinks() {
	execute(s.t, s.address, fmt.Sprintf("UPDATE links SET expires_at = %d",
		time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()))
}
