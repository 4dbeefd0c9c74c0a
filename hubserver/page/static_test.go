package page_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/hubserver/page/static"
)

func TestStatic_ServesEveryFileAtAnAddressOfItsContent(t *testing.T) {
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
		if !bytes.Equal(served, source) || !isCurrent {
			t.Errorf("%s is not served as it is", name)
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
