package hubclient_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// historyCalls are the calls about what a project had.
func historyCalls() []call {
	files, _ := someFiles()
	return []call{
		{"ConfigHistory", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			return c.EachConfigEntry(ctx, project, func(wire.ConfigEntry) bool { return true })
		}, answering(200, wire.ConfigHistory{})},
		{"ConfigRevision", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.ConfigRevision(ctx, project, revisionOf(settings))
			return err
		}, answering(200, configOf(settings))},
		{"BaseFilesHistory", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.BaseFilesHistory(ctx, project)
			return err
		}, answering(200, wire.BaseFilesHistory{})},
		{"RestoreBaseFiles", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.RestoreBaseFiles(ctx, project, "abc", "def")
			return err
		}, answering(200, wire.BaseFilesWritten{Project: project, Tree: "abc"})},
		{"BaseFilesRevision", "GET", false, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.BaseFilesRevision(ctx, project, files.Digest())
			return err
		}, answering(200, wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest(), Count: len(files)},
			Files: files})},
	}
}

// historyOf answers with a history of revisions, newest first, two in a page.
func historyOf(revisions ...string) step {
	return func(w http.ResponseWriter, r *http.Request) {
		from := 0
		fmt.Sscan(r.URL.Query().Get("cursor"), &from)
		var page wire.ConfigHistory
		for i := from; i < min(from+2, len(revisions)); i++ {
			page.Entries = append(page.Entries, wire.ConfigEntry{
				Edit: wire.Edit{Revision: revisions[i]}, Number: int64(len(revisions) - i), RequestID: fmt.Sprint(i),
			})
		}
		if from+2 < len(revisions) {
			page.NextCursor = fmt.Sprint(from + 2)
		}
		answer(w, http.StatusOK, page)
	}
}

func TestFindConfigEntry(t *testing.T) {
	full := func(start string) string { return start + strings.Repeat("0", 64-len(start)) }
	a, b, c := full("aaaa1"), full("aaaa2"), full("c")
	for _, test := range []struct {
		abbreviated, revision, request string
		pages                          int
	}{
		{"aaaa1", a, "1", 2}, // the newest of two writes, after all pages were read
		{"c000", c, "0", 2},
		{a, a, "1", 1}, // no other revision can be meant
		{"r1", a, "3", 2},
		{"r3", a, "1", 1},
		{"r9", "", "", 2},
		{"latest", c, "0", 1},
		{"latest~1", a, "1", 1},
		{"latest~3", a, "3", 2},
		{"latest~20", "", "", 2},
		{"aaaa", "", "", 2},
		{"bbbb", "", "", 2},
		{full("b"), "", "", 2},
	} {
		var steps []step
		for range test.pages {
			steps = append(steps, historyOf(c, a, b, a))
		}
		play(t, steps, func(ctx context.Context, client *hubclient.Client) {
			entry, err := client.FindConfigEntry(ctx, project, test.abbreviated)
			if test.revision == "" {
				wantCode(t, err, wire.CodeRevisionNotKept)
			} else if err != nil || entry.Revision != test.revision || entry.RequestID != test.request {
				t.Errorf("%s: %+v, %v", test.abbreviated, entry, err)
			}
		})
	}
}

func TestHistory_Ends(t *testing.T) {
	for code, entries := range map[wire.Code][]wire.ConfigEntry{
		notAHub: {{Edit: wire.Edit{Revision: former}}}, wire.CodeRevisionNotKept: nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
				if n > 1000 {
					t.Errorf("%s: request %d", code, n)
					answer(w, http.StatusOK, wire.ConfigHistory{})
					return
				}
				answer(w, http.StatusOK, wire.ConfigHistory{Entries: entries, NextCursor: fmt.Sprint(n)})
			})
			_, err := b.FindConfigEntry(t.Context(), project, empty)
			wantCode(t, err, code)
		})
	}
}

func TestFindBaseFilesEntry(t *testing.T) {
	entries := []wire.BaseFilesEntry{
		{BaseFilesSum: wire.BaseFilesSum{Tree: "aaaa1"}}, {BaseFilesSum: wire.BaseFilesSum{Tree: "aaaa2"},
			RequestID: "newest"}, {BaseFilesSum: wire.BaseFilesSum{Tree: "aaaa2"}},
	}
	if e, err := hubclient.FindBaseFilesEntry(entries, project, "aaaa2"); err != nil || e.RequestID != "newest" {
		t.Errorf("%+v, %v", e, err)
	}
	for _, abbreviated := range []string{"aaaa", "b"} {
		_, err := hubclient.FindBaseFilesEntry(entries, project, abbreviated)
		wantCode(t, err, wire.CodeRevisionNotKept)
	}
}

func TestHistory_OfAnotherRevisionIsRefused(t *testing.T) {
	files, _ := someFiles()
	for name, test := range map[string]struct {
		step step
		do   func(context.Context, *hubclient.Client) error
	}{
		"ConfigRevision": {answered(200, configOf(settings)), func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.ConfigRevision(ctx, project, former)
			return err
		}},
		"BaseFilesRevision": {answered(200, wire.BaseFiles{
			BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest()}, Files: files,
		}), func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.BaseFilesRevision(ctx, project, former)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, []step{test.step}, func(ctx context.Context, c *hubclient.Client) { wantCode(t, test.do(ctx, c), notAHub) })
		})
	}
}

func TestRestoreBaseFiles_412IsSuccessWhenOwnRestoreWasApplied(t *testing.T) {
	restored := changedTo("abc")
	for name, test := range map[string]struct {
		steps []step
		ok    bool
	}{
		"own":                 {[]step{lost, restored}, true},
		"of others":           {[]step{lost, changedTo("def")}, false},
		"no attempt was lost": {[]step{restored}, false},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, test.steps, func(ctx context.Context, c *hubclient.Client) {
				written, err := c.RestoreBaseFiles(ctx, project, "abc", "old")
				if !test.ok {
					wantCode(t, err, wire.CodeRevisionChanged)
				} else if err != nil || written.Tree != "abc" {
					t.Errorf("%+v, %v", written, err)
				}
			})
		})
	}
}
