package cmdline

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLine_IsWrittenForAShell(t *testing.T) {
	for _, c := range []struct {
		line Line
		want string
	}{
		{Tool("status"), "tool status"},
		{Tool("push").With("web").Flag("--project", "@acme/web").Flag("--base-files"),
			"tool push web --project @acme/web --base-files"},
		{Tool("push").With("web").In("."), "tool push web"},
		{Tool("push").With("$(touch x)").In("my dir"), "tool -C 'my dir' push '$(touch x)'"},
		{Tool("push").With("-web").Flag("--dry-run"), "tool push --dry-run -- -web"},
		{Tool("project", "create").With("web").Flag("--from", "-web"), "tool project create web --from=-web"},
		{Git("add").With(".tool/it's").In("a"), `git -C a add '.tool/it'\''s'`},
		{Hub("account", "create").With("alice").In("a"), "hub account create alice"},
		{Tool("init").With(""), "tool init ''"},
		{Tool("init").With("=web"), "tool init '=web'"},
		{Tool("init").With("%self"), "tool init '%self'"},
		{Tool("push").With(`\'; touch x #`), `tool push ''\\''\''; touch x #'`},
	} {
		if got := c.line.String(); got != c.want {
			t.Errorf("%+v is written %s, want %s", c.line, got, c.want)
		}
	}
	if l := Tool("push").Flag("--origin", "-x"); !l.Has("--origin") || l.Has("--orig") {
		t.Errorf("%v has other flags", l)
	}
}

func TestLine_DoesNotShareMemory(t *testing.T) {
	base := Tool("push").With("web").Flag("--a")
	one, two := base.Flag("--one"), base.Flag("--two")
	if got := one.String() + "; " + two.String(); got != "tool push web --a --one; tool push web --a --two" {
		t.Error(got)
	}
}

func TestQuote_IsReadBackByASh(t *testing.T) {
	const characters = "ab0 \t\n'\"\\$`!*?[]{}()<>|&;#~=%^-+@:,./\x01\x1b\x7fé日"
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"", "-", "--", "$(touch x)", "`id`", "a'b", `\`, "\n", "=x", "~", "!!"}
	for range 2000 {
		var b strings.Builder
		all := []rune(characters)
		for range random.IntN(8) {
			b.WriteRune(all[random.IntN(len(all))])
		}
		words = append(words, b.String())
	}
	for _, shell := range []string{"sh", "bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			if shell == "sh" {
				t.Skip("needs sh")
			}
			continue
		}
		script := `printf '%s\0'`
		for _, word := range words {
			script += " " + Quote(word)
		}
		out, err := exec.Command(path, "-c", script).Output()
		if err != nil {
			t.Fatalf("%s: %v", shell, err)
		}
		if diff := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); diff != "" {
			t.Errorf("%s reads others: %s", shell, diff)
		}
	}
}

// fish acts on \\ and \' within single quotes, which other shells do not.
func TestQuote_HasNoBackslashWithinQuotes(t *testing.T) {
	for _, word := range []string{`\`, `\'`, `'\`, `a\\b`, `\'; touch x #`, `c:\new 'dir'\`} {
		quoted, read := false, ""
		for rest := Quote(word); rest != ""; rest = rest[1:] {
			switch {
			case rest[0] == '\'':
				quoted = !quoted
				continue
			case rest[0] == '\\' && quoted:
				t.Errorf("%s is quoted %s", word, Quote(word))
			case rest[0] == '\\':
				rest = rest[1:]
			}
			read += rest[:1]
		}
		if read != word || quoted {
			t.Errorf("%s is quoted %s, which is read as %s", word, Quote(word), read)
		}
	}
}

func TestQuote_PowerShell(t *testing.T) {
	for word, want := range map[string]string{"web": "web", "@acme/web": "'@acme/web'", "it's": "'it''s'",
		"$(x)": "'$(x)'", "a’b": "'a’’b'", "": "''"} {
		if got := quotePowerShell(word); got != want {
			t.Errorf("%s is quoted %s, want %s", word, got, want)
		}
	}
}
