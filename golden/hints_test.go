//go:build unix

package golden_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompletion_LeavesFileNamesToTheShell(t *testing.T) {
	t.Parallel()
	for line, directive := range map[string]string{
		"-C ": ":16", "push -C ": ":16", "init --base-path ": ":16", "pull --output ": ":16", "init --source ": ":0",
	} {
		out, err := exec.Command(program("tool"), append([]string{"__complete"}, strings.Split(line, " ")...)...).Output()
		if err != nil || strings.TrimSpace(string(out)) != directive {
			t.Errorf("tool %s: %v\n%s", line, err, out)
		}
	}
}

func TestCompletion_KnowsRevisionsRolesAndScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	for _, test := range []struct {
		line []string
		want string
	}{
		{[]string{"show", "web", ""}, "r2\talice, just now\n"},
		{[]string{"show", "@alice/web", ""}, "r2\talice, just now\n"},
		{[]string{"restore", "web", ""}, "r2\talice, just now\n"},
		{[]string{"member", "set", "acme", "nora", "--role", ""}, "reader\nwriter\nadmin\n"},
		{[]string{"token", "create", "laptop", "--scope", "write:"}, "write:config\nwrite:catalog\n"},
	} {
		out := w.must(append([]string{"__complete"}, test.line...)...)
		if !strings.Contains(out, test.want) {
			t.Errorf("tool %q: %s", test.line, out)
		}
	}
}

func TestHub_SuggestsTheCommandThatWasMeant(t *testing.T) {
	for line, want := range map[string]string{
		"tokn": "try: hub token\n", "token creat": "try: hub token create\n", "srve": "try: hub serve\n",
		"account lst": "try: hub account list\n",
	} {
		if said := usageOf(t, strings.Fields(line)...); !strings.Contains(said, want) {
			t.Errorf("hub %s: %s", line, said)
		}
	}
	if said := usageOf(t, "entirely-else"); strings.Contains(said, "try:") {
		t.Error(said)
	}
}

func TestHubServe_SaysWhatToDoAboutAPortInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	db := "sqlite:" + filepath.Join(t.TempDir(), "the hub.db")
	out, err := exec.Command(program("hub"), "serve", "--listen", listener.Addr().String(), "--db", db).CombinedOutput()
	if want := "  try: hub serve --listen 127.0.0.1:0 --db '" + db + "'\n"; err == nil ||
		!strings.Contains(string(out), want) || !strings.Contains(string(out), "hint: ") {
		t.Errorf("it does not say %s: %v\n%s", want, err, out)
	}
}

func TestProjectView_PrintsLinkWhereNoBrowserOpens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	empty := t.TempDir()
	for _, opener := range []string{"", "#!/bin/sh\nexit 3\n"} { // none, and one that finds no browser
		if opener != "" {
			if err := os.WriteFile(filepath.Join(empty, "xdg-open"), []byte(opener), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		c := w.command("project", "view", "@alice/web", "--web")
		c.Env = append(c.Env, "PATH="+empty)
		term := open(t, c, size{120, 24}, false)
		term.end()
		if text := term.text(); !strings.Contains(text, w.hub.origin+"/@alice/web") ||
			!strings.Contains(text, w.hub.origin+"/link?code=") || strings.Contains(text, "Open") {
			t.Errorf("it does not show the address of the page and a link:\n%s", text)
		}
	}
}
