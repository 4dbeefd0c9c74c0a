package golden_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// topics are the pages of help that belong to no command.
var topics = []string{
	"start", "team", "pipelines", "environments", "base-files", "previews", "stacks", "secrets", "json",
	"environment", "exit-codes", "results",
}

func TestHelp_EveryCommand(t *testing.T) {
	pages := helpOf(t, "tool")
	checkReference(t, pages)
	pages = append(pages, helpOf(t, "hub")...)
	for _, topic := range topics {
		page := "tool-help-" + topic
		text := output(t, "tool", "help", topic)
		checkWidth(t, page, withoutBlocks(text))
		if guide, err := os.ReadFile("../cmd/tool/guide/" + topic + ".md"); err == nil {
			if text != string(guide) {
				t.Errorf("tool help %s is not the guide:\n%s", topic, text)
			}
			continue
		}
		golden(t, "help/"+page+".txt", text)
		pages = append(pages, page)
	}
	files, err := filepath.Glob("testdata/help/*.txt")
	if err != nil || len(files) != len(pages) {
		t.Errorf("%d files for %d pages of help: %v", len(files), len(pages), err)
	}
}

// checkReference compares the reference with the pages of help.
func checkReference(t *testing.T, pages []string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Every command\n\nWhat `tool COMMAND --help` prints.\n")
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("testdata/help", page+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", strings.ReplaceAll(page, "-", " "), text)
	}
	golden(t, "../../cmd/tool/guide/reference.md", b.String())
}

// withoutBlocks returns a guide without its examples, tables and links, whose lines may be long.
func withoutBlocks(text string) string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	return regexp.MustCompile(`(?m)^\|.*$`).ReplaceAllString(text, "")
}

var subcommand = regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}[A-Z]`)

// helpOf checks the help of a command and of those below it, and returns their pages.
func helpOf(t *testing.T, command ...string) (pages []string) {
	t.Helper()
	text := output(t, append(command, "--help")...)
	page := strings.Join(command, "-")
	golden(t, "help/"+page+".txt", text)
	checkHelp(t, page, text)
	pages = []string{page}
	for _, found := range subcommand.FindAllStringSubmatch(text, -1) {
		if found[1] != "help" && found[1] != "completion" || command[0] == "tool" {
			pages = append(pages, helpOf(t, append(command[:len(command):len(command)], found[1])...)...)
		}
	}
	return pages
}

var placeholder = regexp.MustCompile(`^ +(?:-\w, )?--[a-z-]+ ([A-Z][A-Z:\[\]]*) {2,}(.*)`)

// A flag's text does not begin with its placeholder again, nor end with it.
func TestHelp_FlagsDoNotRepeatPlaceholders(t *testing.T) {
	for line := range strings.Lines(output(t, "hub", "serve", "--help")) {
		if m := placeholder.FindStringSubmatch(line); m != nil &&
			(strings.HasPrefix(m[2], m[1]) || strings.Contains(m[2], ", "+m[1])) {
			t.Errorf("%s", line)
		}
	}
}

// checkHelp holds for every page: it is narrow enough to be read anywhere, and
// what its examples say is understood.
func checkHelp(t *testing.T, page, text string) {
	t.Helper()
	checkWidth(t, page, text)
	checkExamples(t, page, text)
}

func checkWidth(t *testing.T, page, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if width := len([]rune(strings.TrimSuffix(line, "\n"))); width > 80 {
			t.Errorf("%s: a line of %d characters: %s", page, width, line)
		}
	}
}

func checkExamples(t *testing.T, page, text string) {
	t.Helper()
	_, examples, _ := strings.Cut(text, "Examples:\n")
	examples, _, _ = strings.Cut(examples, "\n\n")
	for example := range strings.Lines(examples) {
		words := split(example)
		for i, word := range words {
			if word == "<" || word == ">" || word == ">>" {
				words = words[:i]
				break
			}
		}
		switch {
		case words[0] != "tool" || words[1] == "login":
		case page == "tool" && words[1] == "init":
		default:
			if out, code := nowhere(words); code == exitUsage {
				t.Errorf("%s: the example %q makes no sense: %s", page, example, out)
			}
		}
	}
}

func output(t testing.TB, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(program(args[0]), args[1:]...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String()
}

func TestHelp_SameForFlagAndCommand(t *testing.T) {
	for _, command := range []string{"push", "pull", "project create", "login"} {
		words := strings.Fields(command)
		want := output(t, append(append([]string{"tool"}, words...), "--help")...)
		for _, args := range [][]string{append([]string{"help"}, words...), append(words[:len(words):len(words)], "-h")} {
			if got := output(t, append([]string{"tool"}, args...)...); got != want {
				t.Errorf("tool %s is not tool %s --help:\n%s", strings.Join(args, " "), command, got)
			}
		}
	}
}

// Every code that the programs' results can show stands in a script, so that
// somebody has read what it says.
func TestCodes_EachIsShownByAScript(t *testing.T) {
	var shown bytes.Buffer
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(text)
	}
	// What a hub says to other clients, or what only a broken disk or a broken
	// program brings about.
	elsewhere := strings.Fields(`precondition_required invalid_json unsupported_media_type
		idempotency_mismatch method_not_allowed set_exists plan_outdated bot_mismatch
		storage_full internal interrupted`)
	for _, code := range codes {
		found := regexp.MustCompile(`"code": ?"` + code + `"`).Match(shown.Bytes())
		if left := slices.Contains(elsewhere, code); found == left {
			t.Errorf("%s: shown by a script: %v", code, found)
		}
	}
}
