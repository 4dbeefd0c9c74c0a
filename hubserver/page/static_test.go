package page_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
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

func TestStatic_LLMsListsEveryGuide(t *testing.T) {
	t.Parallel()
	_, text, _ := page.Static("llms.txt")
	for _, program := range []string{"tool", "hub"} {
		files, err := filepath.Glob("../../cmd/" + program + "/guide/*.md")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no guides: %v", program, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".md")
			line := "\n- `" + program + " help " + name + "`: "
			if name != "reference" && !bytes.Contains(text, []byte(line)) {
				t.Errorf("llms.txt does not list %s", file)
			}
		}
	}
}
