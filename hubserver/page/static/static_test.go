package static_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"example.com/projecthub/hubserver/page/static"
)

func TestFiles_AreAllThatPagesReferTo(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".go") {
			return err
		}
		if _, err := fs.Stat(static.Files, name); err != nil {
			t.Errorf("%s is not embedded: name it in static.go", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
