package golden_test

import (
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// usageOf runs a hub command that is to be refused for its words, and returns what
// it says.
func usageOf(t *testing.T, args ...string) string {
	t.Helper()
	var exit *exec.ExitError
	out, err := exec.Command(program("hub"), args...).Output()
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || len(out) > 0 {
		t.Errorf("hub %q: %v, want exit 2 and nothing on stdout: %s", args, err, out)
		return ""
	}
	return string(exit.Stderr)
}

func TestHubServe_RejectsImpossibleLimits(t *testing.T) {
	for _, flag := range []string{
		"--config-bytes", "--config-keys", "--config-depth", "--description-bytes", "--bundle-bytes",
		"--base-files", "--base-file-bytes", "--base-files-bytes",
	} {
		for _, value := range []string{"-5", "-1", "0", "9223372036854775807", "99999999999999999999", "1.5", ""} {
			if said := usageOf(t, "serve", flag+"="+value, "--db", "none"); !strings.Contains(said, flag) ||
				!strings.Contains(said, "from 1 to") {
				t.Errorf("%s=%s: %s", flag, value, said)
			}
		}
		if said := usageOf(t, "serve", flag, "1", "--db", "none"); !strings.Contains(said,
			"malformed database address") { // which comes later
			t.Errorf("%s 1: %s", flag, said)
		}
	}
	for _, value := range []string{"0", "3", "x", "1000000"} {
		if said := usageOf(t, "serve", "--db-connections", value); !strings.Contains(said, "from 4 to") {
			t.Errorf("--db-connections %s: %s", value, said)
		}
	}
	t.Setenv("HUB_BASE_FILES", "-1")
	if said := usageOf(t, "serve", "--db", "none"); !strings.Contains(said, "HUB_BASE_FILES") {
		t.Errorf("HUB_BASE_FILES=-1: %s", said)
	}
}

func TestHub_VariableHoldsSeveralValues(t *testing.T) {
	for ranges, want := range map[string]string{
		"10.0.0.0/8,everything":          `"everything" is not`,
		"10.0.0.0/8,192.168.1.0/24:8080": "malformed database address", // which comes later
	} {
		t.Setenv("HUB_IMPORT_ALLOW", ranges)
		if said := usageOf(t, "serve", "--db", "none"); !strings.Contains(said, want) {
			t.Errorf("%s: %s", ranges, said)
		}
	}
}

func TestHub_NoAuditRowWithoutChange(t *testing.T) {
	h := &hub{db: sqlite(t, t.TempDir())}
	for _, line := range []string{
		"migrate", "account create alice", "account create acme --org", "member set acme alice --role reader",
		"member remove acme alice", "member remove acme alice", "token revoke --user alice --all",
	} {
		h.admin(t, strings.Fields(line)...)
	}
	db, err := sql.Open("sqlite", strings.TrimPrefix(h.db, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	if err := db.QueryRow("SELECT count(*) FROM audit WHERE action IN ('member.remove', 'token.revoke')").Scan(
		&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v; want that of the one removal", n, err)
	}
}

func TestHubToken_RejectsUnprintableName(t *testing.T) {
	db := sqlite(t, t.TempDir())
	for _, name := range []string{"a\x1b[31m\nx", "a\tb", "\xff", "\u202e", strings.Repeat("é", 129)} {
		if said := usageOf(t, "token", "create", "--user", "alice", "--name", name, "--db", db); !strings.Contains(said,
			"--name") {
			t.Errorf("%q: %s", name, said)
		}
	}
	h := &hub{db: db}
	h.admin(t, "migrate")
	h.admin(t, "account", "create", "alice")
	h.admin(t, "token", "create", "--user", "alice", "--name", strings.Repeat("é", 127)+" ")
}

// A database may hold names that today's hub refuses.
func TestHubToken_ListEscapesNames(t *testing.T) {
	h := startHub(t, sqlite(t, t.TempDir()))
	h.admin(t, "account", "create", "alice")
	h.admin(t, "token", "create", "--user", "alice", "--name", "laptop")
	execute(t, h.db, "UPDATE tokens SET name = 'a' || char(27) || ']0;x' || char(7, 10, 8238) || 'b'")
	list := h.admin(t, "token", "list")
	if strings.ContainsAny(list, "\x1b\a\u202e") || !strings.Contains(list, `a\x1b]0;x\a\n\u202eb`) {
		t.Errorf("%q", list)
	}
	if said := h.admin(t, "token", "revoke", strings.Fields(strings.Split(list, "\n")[1])[0]); strings.ContainsAny(said,
		"\x1b\a\u202e") {
		t.Errorf("%q", said)
	}
}

func TestHubToken_ListJSONEscapesNames(t *testing.T) {
	h := startHub(t, sqlite(t, t.TempDir()))
	h.admin(t, "account", "create", "alice")
	h.admin(t, "token", "create", "--user", "alice", "--name", "laptop")
	execute(t, h.db, "UPDATE tokens SET name = 'a' || char(27) || ']0;x' || char(7, 155, 8238, 127) || 'b'")
	list := h.admin(t, "token", "list", "--json")
	if strings.ContainsFunc(list, acted) || !strings.Contains(list, `"a\u001b]0;x\u0007\u009b\u202e\u007fb"`) {
		t.Errorf("%q", list)
	}
}

func TestHub_SuggestsSQLiteForPath(t *testing.T) {
	for db, want := range map[string]string{
		"/var/lib/hub/hub.db": "give --db sqlite:/var/lib/hub/hub.db\n",
		"hub data/hub.db":     "give --db 'sqlite:hub data/hub.db'\n",
	} {
		if said := usageOf(t, "account", "list", "--db", db); !strings.Contains(said, want) {
			t.Errorf("--db %s: %s", db, said)
		}
	}
	for _, db := range []string{"mysql://x", "sqlite:", ":memory:"} {
		if said := usageOf(t, "account", "list", "--db", db); strings.Contains(said, "hint:") {
			t.Errorf("--db %s: %s", db, said)
		}
	}
}

func TestHubToken_NamesTokenThatCannotBePrinted(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("only Linux has a device that is always full")
	}
	defer full.Close()
	h := startHub(t, sqlite(t, t.TempDir()))
	h.admin(t, "account", "create", "alice")
	var stderr strings.Builder
	c := exec.Command(program("hub"), "token", "create", "--db", h.db, "--user", "alice", "--name", "lost")
	c.Stdout, c.Stderr = full, &stderr
	if code := codeOf(t, c.Run()); code != 1 ||
		!strings.Contains(stderr.String(), "the token is lost; revoke it: hub token revoke ") ||
		!strings.Contains(stderr.String(), " --db sqlite:") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}
