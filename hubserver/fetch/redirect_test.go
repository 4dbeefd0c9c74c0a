package fetch_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

var redirects = []string{"301", "302", "303", "307", "308"}

func TestRedirect_FollowsAtMostFive(t *testing.T) {
	w := newWorld()
	f := w.fetcher(fetchOptions)
	for i := range 8 {
		w.names[fmt.Sprintf("hop%d.example", i)] = []string{fmt.Sprintf("1.0.0.%d", i)}
		w.site(fmt.Sprintf("1.0.0.%d:80", i), redirect(redirects[i%5], fmt.Sprintf("//hop%d.example/next?a=b#c", i+1)))
	}
	w.site("1.0.0.5:80", ok("the end"))
	if got, err := get(f, "http://hop0.example/"); string(got) != "the end" {
		t.Errorf("after 5 redirects: %q, %v", got, errors.Unwrap(err))
	}
	w.site("1.0.0.5:80", redirect("302", "http://hop6.example/"))
	w.site("1.0.0.6:80", ok("too far"))
	w.dialled = nil
	_, err := get(f, "http://hop0.example/")
	wantRefused(t, err)
	if slices.Contains(w.dialled, "1.0.0.6:80") {
		t.Error("a sixth redirect was followed")
	}
	w.site(public+":80", redirect("302", "http://"+public+"/"))
	w.dialled = nil
	if _, err := get(f, "http://"+public); err == nil || len(w.dialled) != 6 {
		t.Errorf("a redirect to itself was followed %d times, %v", len(w.dialled), err)
	}
}

func TestRedirect_IsResolvedAgainstItsSource(t *testing.T) {
	w := newWorld()
	f := w.fetcher(fetchOptions)
	for location, want := range map[string]string{"b?c": "/a/b?c", "/b": "/b", "../b": "/b", "?q": "/a/x?q"} {
		w.heads = nil
		w.site(public+":80", redirect("302", location))
		get(f, "http://"+public+"/a/x")
		if got := strings.Fields(w.heads[1])[1]; got != want {
			t.Errorf("%s leads to %s, want %s", location, got, want)
		}
	}
}

// Every place that must not be fetched must not be redirected to either.
func TestRedirect_CannotLeaveAllowedAddresses(t *testing.T) {
	w := newWorld()
	for name, address := range hostnames {
		w.names[name] = []string{address}
	}
	w.names["ok.example"] = []string{"1.1.1.1"}
	w.site("1.1.1.1:80", ok("x"))
	f := w.fetcher(fetchOptions)
	targets := append(inward(), "file:///etc/passwd", "gopher://127.0.0.1/", "ftp://ok.example/", "data:,x",
		"javascript:alert(1)",
		"http://user@ok.example/", "http://user:password@ok.example/", "//:@ok.example/", "http://ok.example:0/",
		"http://ok.example:70000/",
		"http://ok.example:22/", "http:///path", "http://", "http://ok.example\\@127.0.0.1/", "http://ok .example/", "%", "")
	for i, target := range targets {
		w.site(public+":80", redirect(redirects[i%5], target))
		w.dialled = nil
		_, err := get(f, "http://"+public+"/")
		wantRefused(t, err)
		for _, place := range w.dialled {
			if place != public+":80" {
				t.Errorf("a redirect to %q dialled %s", target, place)
			}
		}
	}
	t.Logf("%d targets, none dialled", len(targets))
}

func TestRedirect_OnlyByLocation(t *testing.T) {
	w := newWorld()
	w.site("1.1.1.1:80", ok("x"))
	refresh := "<meta http-equiv=refresh content='0; url=http://1.1.1.1/'>"
	f := w.fetcher(fetchOptions)
	w.site(public+":80", "HTTP/1.1 200 OK\r\nRefresh: 0; url=http://1.1.1.1/\r\nLocation: http://1.1.1.1/\r\n\r\n"+refresh)
	if got, err := get(f, "http://"+public); string(got) != refresh {
		t.Errorf("Get = %q, %v", got, err)
	}
	for _, answer := range []string{"HTTP/1.1 302 Found\r\n\r\n",
		"HTTP/1.1 300 Choices\r\nLocation: http://1.1.1.1/\r\n\r\n",
		"HTTP/1.1 304 Same\r\nLocation: http://1.1.1.1/\r\n\r\n",
		"HTTP/1.1 201 Created\r\nLocation: http://1.1.1.1/\r\n\r\n"} {
		w.site(public+":80", answer)
		_, err := get(f, "http://"+public)
		wantRefused(t, err)
	}
	if slices.Contains(w.dialled, "1.1.1.1:80") {
		t.Error("a response that is not a redirect was followed")
	}
}

// A connection that stays open is not used again: each hop and each fetch is checked anew.
func TestFetch_NeverReusesConnection(t *testing.T) {
	w := newWorld()
	w.names["a.example"] = []string{public}
	w.sites[public+":80"] = func(conn net.Conn) {
		for w.readHead(conn) == nil {
			answer := "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
			if strings.HasPrefix(w.heads[len(w.heads)-1], "GET /first") {
				answer = redirect("302", "/second")
			}
			io.WriteString(conn, answer)
		}
	}
	f := w.fetcher(fetchOptions)
	for range 3 {
		if _, err := get(f, "http://a.example/first"); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.dialled) != 6 || len(w.asked) != 6 {
		t.Errorf("%d connections and %d look-ups for 6 requests", len(w.dialled), len(w.asked))
	}
}
