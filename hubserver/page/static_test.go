package page_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/hubserver/page/static"
)

func TestStatic_ScriptsKeepAllButTheirComments(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(static.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := fs.ReadFile(static.Files, name)
		if err != nil {
			return err
		}
		_, served, isCurrent := page.Static(strings.TrimPrefix(page.StaticURL(name), "/static/"))
		if served == nil || !isCurrent {
			t.Fatalf("%s is not served", name)
		}
		from, to := bytes.Split(source, []byte("\n")), bytes.Split(served, []byte("\n"))
		if len(from) != len(to) {
			t.Fatalf("%s has %d lines instead of %d", name, len(to), len(from))
		}
		for i, line := range from {
			isComment := strings.HasSuffix(name, ".js") && bytes.HasPrefix(bytes.TrimSpace(line), []byte("//"))
			if isComment && len(to[i]) > 0 || !isComment && !bytes.Equal(line, to[i]) {
				t.Errorf("%s:%d is %q", name, i+1, to[i])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, content, _ := page.Static("none.js"); content != nil {
		t.Error("a file that does not exist is served")
	}
}
