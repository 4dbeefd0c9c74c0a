package golden_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The cells of the table in the guide to teams: what each command does with a change of the hub's config
// and a change of client.json since the two were last the same.
const (
	sends    = "sends yours"
	replaces = "replaces theirs, saved for `--undo`"
	refuses  = "refuses, lists theirs"
	merges   = "merges both"
	keeps    = "keeps yours"
	conflict = "refuses: conflict"
	forces   = "replaces yours, saved for `--undo`"
)

// reconciling are the table's columns.
var reconciling = []string{"push", "push --no-clobber", "pull", "pull --force"}

// hubEdits are the ways in which the config of a project changes on the hub.
var hubEdits = []struct {
	by   string
	edit func(c *cell)
}{
	{"edited on the page or through the API", func(c *cell) { c.patch(c.change.patch) }},
	{"pushed by another", func(c *cell) { c.pushes(c.bob) }},
	{"pushed by a pipeline", func(c *cell) { c.pushes(c.bot, "CI=true") }},
	{nobody, func(*cell) {}},
}

// changing are the changes on both sides, from the settings that every cell begins with.
var changing = []struct {
	what     string
	change   change
	outcomes [4]string // by column
}{
	{"the same key", change{patch: `{"set": {"title": "Theirs"}}`,
		theirs: `{"title": "Theirs", "color": "blue", "old": 1}`, mine: `{"title": "Mine", "color": "blue", "old": 1}`},
		[4]string{replaces, refuses, conflict, forces}},
	{"another key", change{patch: `{"set": {"color": "theirs"}}`, theirs: `{"title": "Pets", "color": "theirs", "old": 1}`,
		mine: `{"title": "Mine", "color": "blue", "old": 1}`},
		[4]string{replaces, refuses, merges, forces}},
	{"deleted there, changed here",
		change{patch: `{"remove": ["old"]}`, theirs: `{"title": "Pets", "color": "blue"}`,
			mine: `{"title": "Pets", "color": "blue", "old": "mine"}`},
		[4]string{replaces, refuses, conflict, forces}},
	{"changed there, deleted here",
		change{patch: `{"set": {"old": "theirs"}}`, theirs: `{"title": "Pets", "color": "blue", "old": "theirs"}`,
			mine: `{"title": "Pets", "color": "blue"}`},
		[4]string{replaces, refuses, conflict, forces}},
}

// unchanged are the outcomes where only client.json changed.
var unchanged = [4]string{sends, sends, keeps, forces}

const nobody = "not changed"

const common = `{"title": "Pets", "color": "blue", "old": 1}`

type change struct{ patch, theirs, mine string }

// cell is one cell of the table: alice's workspace with a project of its own.
type cell struct {
	*world
	slug     string
	bob, bot string // tokens
	change   change
}

func TestPeople_LoseNothingWithoutBeingTold(t *testing.T) {
	t.Parallel()
	w := newLocal(t, common)
	w.hub.admin(t, "account", "create", "acme", "--org")
	w.hub.admin(t, "account", "create", "bob")
	w.hub.admin(t, "member", "set", "acme", "alice", "--role", "admin") // who creates the bot
	w.hub.admin(t, "member", "set", "acme", "bob", "--role", "writer")
	bob := w.hub.token(t, "bob", "write:config")
	bot := w.bot("ci")
	checkTable(t)
	for i, e := range hubEdits {
		for j, change := range changing {
			for k, command := range reconciling {
				t.Run(fmt.Sprintf("%s/%s/%s", e.by, change.what, command), func(t *testing.T) {
					t.Parallel()
					c := w.cell(t, fmt.Sprintf("p%d%d%d", i, j, k))
					c.bob, c.bot, c.change = bob, bot, change.change
					e.edit(c)
					c.setting(c.change.mine)
					want := change.outcomes[k]
					if e.by == nobody {
						want = unchanged[k]
					}
					if got := c.outcome(command); got != want {
						t.Errorf("%s, want %s", got, want)
					}
				})
			}
		}
	}
}

// bot makes a bot of acme, and returns a token of it.
func (w *world) bot(name string) string {
	w.t.Helper()
	w.must("bot", "create", "@acme/"+name)
	return strings.TrimSpace(w.must("bot", "token", "@acme/"+name, "--name", "pipeline", "--scope", "write:config"))
}

// cell makes a workspace with a project on the hub of w.
func (w *world) cell(t *testing.T, slug string) *cell {
	t.Helper()
	one := *w
	one.t, one.dir = t, filepath.Join(t.TempDir(), "app")
	if err := os.CopyFS(one.dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	one.must("project", "create", "@acme/"+slug, "--from", "web")
	return &cell{world: &one, slug: slug}
}

func (c *cell) url() string { return "/v1/projects/acme/" + c.slug + "/config" }

// patch edits the config with bob's token.
func (c *cell) patch(body string) {
	c.t.Helper()
	if err := patch(c.hub.origin+c.url(), c.bob, body); err != nil {
		c.t.Fatal(err)
	}
}

// pushes pushes their settings from another clone.
func (c *cell) pushes(token string, env ...string) {
	c.t.Helper()
	clone := *c.world
	clone.dir = filepath.Join(c.t.TempDir(), "clone")
	clone.env = append(append(env, c.env...), "TOOL_HUB_TOKEN="+token, "TOOL_API_ORIGIN="+c.origin)
	if err := os.CopyFS(clone.dir, os.DirFS(c.dir)); err != nil {
		c.t.Fatal(err)
	}
	clone.setting(c.change.theirs)
	clone.must("push", "web")
}

var toRestore = regexp.MustCompile(`(?m)to restore (?:it|them): (.*)$`)

// outcome runs a command, says what came of both sides' settings, and checks that a side
// that was replaced comes back with the command that the output names.
func (c *cell) outcome(command string) string {
	c.t.Helper()
	local, remote := c.local(), c.remote()
	cmd := c.command(append(strings.Fields(command), "web")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	failed := cmd.Run() != nil
	c.t.Logf("%s", &out)
	newLocal, newRemote := c.local(), c.remote()
	switch {
	case failed && (newLocal != local || newRemote != remote):
		return "fails and changes something"
	case failed && strings.Contains(out.String(), "would undo"):
		return refuses
	case failed && strings.Contains(out.String(), "changed differently"):
		return conflict
	case failed:
		return "fails"
	case newLocal == local && newRemote == local && remote == c.common():
		return sends
	case newLocal == local && newRemote == remote:
		return keeps
	case newLocal == local && newRemote == local:
		c.restore(out.String())
		if c.remote() != remote {
			return "loses theirs"
		}
		return replaces
	case newLocal == remote && newRemote == remote:
		c.restore(out.String())
		if c.local() != local {
			return "loses yours"
		}
		return forces
	case newRemote == remote && newLocal == `{"color":"theirs","old":1,"title":"Mine"}`:
		return merges
	}
	return fmt.Sprintf("%s becomes %s, %s on the hub becomes %s", local, newLocal, remote, newRemote)
}

// restore types the command that output names.
func (c *cell) restore(output string) {
	c.t.Helper()
	line := toRestore.FindStringSubmatch(output)
	if line == nil {
		c.t.Error("no command restores it")
		return
	}
	cmd := exec.Command("sh", "-c", line[1]+" --no-input")
	cmd.Dir, cmd.Env = c.dir, append(c.env, "PATH="+filepath.Dir(program("tool")))
	if text, err := cmd.CombinedOutput(); err != nil {
		c.t.Errorf("%s: %v\n%s", line[1], err, text)
	}
}

func (c *cell) common() string { return compact(c.t, common) }

func (c *cell) local() string {
	c.t.Helper()
	var client struct{ Settings json.RawMessage }
	if err := json.Unmarshal([]byte(c.read(clientJSON)), &client); err != nil {
		c.t.Fatal(err)
	}
	return compact(c.t, string(client.Settings))
}

func (c *cell) remote() string {
	c.t.Helper()
	var hub struct{ Config json.RawMessage }
	if err := json.Unmarshal([]byte(c.get(c.url())), &hub); err != nil {
		c.t.Fatal(err)
	}
	return compact(c.t, string(hub.Config))
}

// compact returns an object's members in their order, without spaces.
func compact(t testing.TB, text string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatal(err)
	}
	short, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(short)
}

// checkTable checks that the guide has the table.
func checkTable(t *testing.T) {
	t.Helper()
	table := "| Changed on the hub and in client.json | `" + strings.Join(reconciling, "` | `") + "` |\n|" +
		strings.Repeat("---|", 1+len(reconciling)) + "\n"
	for _, change := range changing {
		table += "| " + change.what + " | " + strings.Join(change.outcomes[:], " | ") + " |\n"
	}
	table += "| only in client.json | " + strings.Join(unchanged[:], " | ") + " |\n"
	guide, err := os.ReadFile("../cmd/tool/guide/team.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), table) {
		t.Errorf("the guide lacks this table:\n%s", table)
	}
}
