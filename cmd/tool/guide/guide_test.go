package guide_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")

// text returns a file of the repository.
func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), "\r\n", "\n")
}

func TestGuides_AreShort(t *testing.T) {
	limits := map[string][2]int{"README.md": {500, 800}}
	for _, name := range []string{
		"start", "team", "pipelines", "environments", "base-files", "previews", "stacks", "secrets", "json",
	} {
		limits["cmd/tool/guide/"+name+".md"] = [2]int{300, 700}
	}
	for file, limit := range limits {
		words := len(strings.Fields(codeBlock.ReplaceAllString(text(t, file), "")))
		if words < limit[0] || words > limit[1] {
			t.Errorf("%s has %d words outside code blocks; it should have %d to %d", file, words, limit[0], limit[1])
		}
	}
}

func TestReadmes_LinkToFilesThatExist(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, file := range []string{"README.md", "cmd/hub/README.md", "cmd/tool/release/README.md"} {
		found := links.FindAllStringSubmatch(text(t, file), -1)
		if len(found) == 0 {
			t.Errorf("%s has no link", file)
		}
		for _, link := range found {
			if _, err := os.Stat(filepath.Join("..", "..", "..", filepath.Dir(file), link[1])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
