//go:build unix

package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sheets are the looks that the contact sheet compares.
var sheets = []struct {
	name  string
	size  size
	paper paper
	env   string
}{
	{"dark", usual, dark, "NO_COLOR="},
	{"light", usual, light, "NO_COLOR="},
	{"no colour", usual, dark, "NO_COLOR=1"},
	{"wide", size{120, 30}, dark, "NO_COLOR="},
	{"dark, 40x15", narrow, dark, "NO_COLOR="},
	{"light, 40x15", narrow, light, "NO_COLOR="},
}

// contact collects pictures of screens in one look.
type contact struct {
	*world
	size     size
	paper    paper
	pictures strings.Builder
}

// screens keeps the screens of a command, which the last turn ends, and what it leaves.
func (c *contact) screens(code int, args []string, turns ...turn) {
	c.t.Helper()
	term := c.world.open(c.size, args...)
	for _, turn := range turns {
		term.wait(turn.wait)
		if turn.show != "" {
			c.keep(term, turn.show)
		}
		term.press(turn.keys)
	}
	term.ends(code)
	if term.text() != "\n" {
		c.keep(term, "the result of tool "+strings.Join(args, " "))
	}
}

func (c *contact) keep(term *terminal, name string) {
	picture := term.picture(name, c.paper, func(run string) string { return run })
	fmt.Fprintf(&c.pictures, "<figure>%s<figcaption>%s</figcaption></figure>\n", picture, escaped(name))
}

// TestContactSheet draws the screens of the terminal in every look, on one page for
// people to look at. To keep the page:
//
//	go test ./golden -run ContactSheet -artifacts -outputdir DIR
func TestContactSheet(t *testing.T) {
	t.Parallel()
	rows := make([]string, len(sheets))
	page := filepath.Join(t.ArtifactDir(), "contact-sheet.html")
	t.Cleanup(func() {
		text := "<!doctype html>\n<meta charset=utf-8>\n<title>Screens of tool</title>\n<style>figure { display: " +
			"inline-block; vertical-align: top; margin: 8px }</style>\n" + strings.Join(rows, "")
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
		t.Logf("written to %s", page)
	})
	for i, sheet := range sheets {
		t.Run(sheet.name, func(t *testing.T) {
			t.Parallel()
			w := newEmpty(t)
			w.env = append(w.env, sheet.env)
			c := &contact{world: w, size: sheet.size, paper: sheet.paper}
			c.tour()
			rows[i] = fmt.Sprintf("<h1>%s</h1>\n%s", sheet.name, c.pictures.String())
		})
	}
}

// tour walks from a first login to a conflict.
func (c *contact) tour() {
	c.screens(0, []string{"login"},
		turn{"Which hub?", "login: hub", ctrlU + c.origin + enter},
		turn{"> In a browser", "login: how", down + enter},
		turn{"Token for", "login: token", "hubpat_"}, turn{"✗", "login: incomplete token", ctrlU + c.token + enter})
	c.screens(0, nil, turn{"no local project", "home: nothing yet", "q"})
	c.screens(0, []string{"project", "create"},
		turn{"> Create one", "create: local project", enter}, turn{"> Publish", "create: start", enter},
		turn{"is available", "create: name", "_"}, turn{"✗ a slug", "create: malformed name", ctrlU + "app"},
		turn{"is available", "", enter}, turn{"> Private", "create: visibility", enter},
		turn{"> Register", "create: API", enter}, turn{"> Not now", "create: files", up}, turn{"> Push", "", enter},
		turn{"> Create @", "create: review", enter})
	c.edit(`"basePath": "src"`,
		`"basePath": "src", "title": "Pet store", "theme": {"colour": "teal", "dark": true}, "tags": ["cats", "dogs"]`)
	c.screens(0, nil, turn{"changed here", "home: changed here", "q"})
	c.screens(0, []string{"push", "app"}, turn{"[n] Cancel", "push: question", "a"}, turn{"> +", "push: unfolded", "/"},
		turn{"filter: _", "push: filter", "teal" + enter}, turn{"filter: teal  ", "push: filtered", "y"})
	c.screens(0, []string{"pull", "app"})
	c.screens(0, []string{"project", "rm", "@alice/app"}, turn{"to delete it.", "rm: question", "web" + enter},
		turn{"✗ that is not", "rm: wrong name", ctrlU + enter})
	c.screens(2, []string{"psuh"})
	c.screens(1, []string{"push", "nothing"})
	c.others()
	c.publishing()
	c.waiting()
	c.env = append(c.env, "TERM=dumb")
	c.edit("green", "blue")
	c.screens(0, []string{"push", "app"}, turn{"(default 1):", "push: in lines", "no" + enter})
}

// others shows what is different once somebody else writes, too.
func (c *contact) others() {
	c.edit("teal", "green")
	edits := `{"set": {"title": "Pets & people", "theme.accent": "coral"}}`
	if err := patch(c.origin+"/v1/projects/alice/app/config", c.token, edits); err != nil {
		c.t.Fatal(err)
	}
	c.screens(0, []string{"diff", "app"})
	c.screens(0, []string{"log", "app"})
	c.screens(0, nil, turn{"changed here and on the hub", "home: changed here and on the hub", "q"})
	c.screens(0, []string{"push", "app"}, turn{"[m] Merge", "push: undoes edits of others", "n"})
	c.edit("Pet store", "Animals")
	c.screens(0, []string{"pull", "app"}, turn{"1 to choose", "merge: conflict", "t"},
		turn{"0 to choose", "merge: chosen", enter})
	c.screens(0, []string{"push", "app", "--force"})
}

// publishing shows a second local project, and a stack that is not published yet.
func (c *contact) publishing() {
	c.write(".tool/shop/client.json", `{"settings": {"basePath": "shop"}}`+"\n")
	c.write(".tool/shop/stack.json", `{"name": "@alice/app", "version": "0.2.0"}`+"\n")
	c.screens(0, nil, turn{"> app", "home: several projects", down}, turn{"> shop", "home: not created", "q"})
	c.screens(0, []string{"diff"}, turn{"Which local project?", "pick a local project", enter})
	c.screens(0, []string{"publish", "shop"}, turn{"> Cancel", "publish: question", up}, turn{"> Publish", "", enter})
	c.screens(0, []string{"status"})
}

// waiting shows a hub that is slow, and a push that watches.
func (c *contact) waiting() {
	seen := make(chan struct{})
	slow := c.silent(seen)
	term := c.open(c.size, "status", "--origin", slow, "--token", c.token)
	term.wait("waiting for " + slow[:len("http://127.0.0.1")])
	c.keep(term, "waiting for a hub")
	close(seen)
	term.ends(0)
	c.screens(0, []string{"push", "app", "--watch", "--base-files", "--force"},
		turn{"watching; press ctrl-c to stop", "push: watch", ctrlC})
}

// edit replaces a part of the settings.
func (c *contact) edit(from, to string) {
	c.write(".tool/app/client.json", strings.Replace(c.read(".tool/app/client.json"), from, to, 1))
}
