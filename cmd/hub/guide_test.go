package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/projecthub/cmd/hub/guide"
)

var codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")

func TestHelp_PrintsEachGuide(t *testing.T) {
	files, err := filepath.Glob("guide/*.md")
	if err != nil || len(files) != len(guide.All) {
		t.Errorf("there are %d guides, and %d files: %v", len(guide.All), len(files), err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guide.All {
		text, err := os.ReadFile(filepath.Join("guide", g.Name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		var out, failed bytes.Buffer
		code := run(context.Background(), []string{"help", g.Name}, nil, &out, &failed, func(string) string { return "" })
		if code != exitDone || failed.Len() > 0 || out.String() != string(text) {
			t.Errorf("hub help %s ends with %d and prints:\n%s%s", g.Name, code, &out, &failed)
		}
		if link := "[" + g.Name + "](guide/" + g.Name + ".md)"; !strings.Contains(string(readme), link) {
			t.Errorf("README.md has no link %s", link)
		}
	}
}

func TestGuides_AreShort(t *testing.T) {
	most := map[string]int{"README.md": 900}
	for _, g := range guide.All {
		most[filepath.Join("guide", g.Name+".md")] = 700
	}
	for file, limit := range most {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words := len(strings.Fields(codeBlock.ReplaceAllString(string(text), "")))
		if words < 300 || words > limit {
			t.Errorf("%s has %d words outside code blocks; it should have 300 to %d", file, words, limit)
		}
	}
}

func TestGuides_NameFlagsAndCommandsThatExist(t *testing.T) {
	files, err := filepath.Glob("guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	code := regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
	call := regexp.MustCompile("(?m)(?:^|^[$] |`|exec hub1 |sudo -u hub |CONTAINER )hub ([a-z ]+)([^`\n]*)")
	flag := regexp.MustCompile(`(?:^| )--([a-z-]+)`)
	for _, file := range append(files, "README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples := strings.Join(code.FindAllString(strings.ReplaceAll(string(text), "\\\n", ""), -1), "\n")
		for _, found := range call.FindAllStringSubmatch(examples, -1) {
			c, _, err := root.Find(strings.Fields(found[1]))
			if err != nil || c == root {
				t.Errorf("%s: there is no command %q", file, found[0])
				continue
			}
			c.InitDefaultHelpFlag()
			for _, name := range flag.FindAllStringSubmatch(found[2], -1) {
				if c.Flag(name[1]) == nil {
					t.Errorf("%s: %s has no flag --%s", file, c.CommandPath(), name[1])
				}
			}
		}
	}
}
