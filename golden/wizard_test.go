//go:build unix

package golden_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// newEmpty makes a world whose workspace holds an API description and two files,
// and nothing of tool's.
func newEmpty(t testing.TB) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, dir: filepath.Join(root, "app"), hub: startHub(t, sqlite(t, root))}
	w.origin = w.hub.origin
	for name, value := range environment(root) {
		w.env = append(w.env, name+"="+value)
	}
	w.env = append(w.env, "HOME="+root, "TERM=xterm-256color")
	w.write("openapi.yaml", "openapi: 3.1.0\ninfo: {title: Pets, version: \"1\"}\npaths: {}\n")
	w.write("index.html", "<!doctype html>\n<title>Pets</title>\n")
	w.hub.admin(t, "account", "create", "alice")
	w.token = w.hub.token(t, "alice", "write:catalog", "admin:resource")
	return w
}

// turn is a screen that is awaited, and what is typed then.
type turn struct {
	wait string // what tells that the screen is there, the field's mark included
	show string // name of the golden screen, "" for none
	keys string
}

// talk takes turns.
func (w *world) talk(term *terminal, turns []turn) {
	w.t.Helper()
	for _, turn := range turns {
		term.wait(turn.wait)
		if turn.show != "" {
			w.show(term, turn.show)
		}
		term.press(turn.keys)
	}
}

// askedTimes waits until the cursor stands behind a plain prompt, which is the
// n-th that has the given part.
func (term *terminal) askedTimes(n int, part, prompt string) {
	term.t.Helper()
	term.until("asks again", func(screen string) bool {
		return strings.Count(screen, part) == n && strings.HasSuffix(screen, prompt+"\n")
	})
}

// A newcomer's way from an empty hub to a project: every screen of it.
var firstProject = []turn{
	{"> Create one named app", "init", enter},
	{"> Publish @alice/app 0.1.0 now", "unpublished", enter},
	{"@alice/app is available", "slug", "_"},
	{"✗ a slug is", "slug-wrong", enter}, // which does not go on
	{"> app_", "", ctrlU + "@bob/web"},
	{"✗ alice may not write to bob", "slug-denied", ctrlU + "web"},
	{"@alice/web is available", "", enter},
	{"> Private", "visibility", down},
	{"> Public", "visibility-public", escape}, // back, and on again
	{"@alice/web is available", "slug-again", enter},
	{"> Private", "", enter},
	{"> Register openapi.yaml", "api", down},
	{"> Use a registered", "", enter},
	{"@account/slug", "api-ref", "@alice/none"},
	{"✗ the API @alice/none is not registered", "api-ref-missing", escape},
	{"> Use a registered", "", up},
	{"> Register openapi.yaml", "", enter},
	{"> Not now", "files", up},
	{"> Push", "", enter},
	{"> Create @alice/web", "review", enter},
}

func TestWizard_FromEmptyHubToProject(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]size{"": usual, "-narrow": narrow} {
		t.Run(strings.TrimPrefix("at"+name, "-"), func(t *testing.T) {
			w := newEmpty(t)
			w.must("login", "--origin", w.origin, "--token", w.token)
			term := w.open(s, "project", "create")
			turns := make([]turn, len(firstProject))
			for i, turn := range firstProject {
				if turns[i] = turn; turn.show != "" {
					turns[i].show = "wizard-" + turn.show + name
				}
			}
			w.talk(term, turns)
			term.ends(0)
			got := w.get(aliceWeb)
			for _, want := range []string{`"stackVersion":"latest"`, `"count":3`, `"visibility":"private"`} {
				if !strings.Contains(got, want) {
					t.Errorf("the project is %s, without %s", got, want)
				}
			}
			if got := w.read(".tool/app/client.json"); !strings.Contains(got, `"project": "@alice/web"`) {
				t.Errorf("client.json is %s", got)
			}
		})
	}
}

func TestWizard_SkipsAnswersGivenByFlags(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	term := w.open(usual, "project", "create", "--visibility", "public", "--stack-version", "1.0.0", "--base-files",
		"--from", "web")
	w.talk(term, []turn{
		{"> Continue", "wizard-published", enter},
		{"@alice/web is available", "", enter},
		{"> Register openapi.json", "", enter},
		{"> Create @alice/web", "wizard-review-given", enter},
	})
	term.ends(0)
	if got := w.get(aliceWeb); !strings.Contains(got, `"stackVersion":"1.0.0"`) ||
		!strings.Contains(got, `"visibility":"public"`) {
		t.Errorf("the project is %s", got)
	}
}

func TestWizard_StopBeforeAnythingIsCreated(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	mine := w.read(clientJSON)
	for name, turns := range map[string][]turn{
		"at the start": {{"> Continue", "", down}, {"> Cancel", "", enter}},
		"at the review": {
			{"> Continue", "", enter}, {"@alice/web is available", "", enter}, {"> Private", "", enter},
			{"> Register", "", enter}, {"> Not now", "", enter}, {"> Create", "", down}, {"> Cancel", "", enter},
		},
	} {
		t.Run(name, func(t *testing.T) {
			term := w.open(usual, "project", "create")
			w.talk(term, turns)
			term.ends(0)
			if !strings.Contains(term.text(), "nothing was changed") {
				t.Errorf("it says\n%s", term.text())
			}
			if text, status := w.fetch(aliceWeb); status != 404 {
				t.Errorf("the project is there: %s", text)
			}
			if got := w.read(clientJSON); got != mine {
				t.Errorf("client.json is now %s", got)
			}
		})
	}
}

func TestWizard_AsksWhichOfSeveralVersions(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`+"\n")
	w.must("publish", "web", "--force")
	for suffix, s := range sizes {
		term := w.open(s, "project", "create")
		w.talk(term, []turn{
			{"> Continue", "", enter}, {"@alice/web is available", "", enter}, {"> Private", "", enter},
			{"> latest", "wizard-version" + suffix, ctrlC},
		})
		term.ends(130)
	}
}

// A name is free again once its project is deleted, and an answer stays on the way back to the
// first question.
func TestWizard_KeepsAnswersOnTheWayBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.must("project", "rm", "@alice/web", "--force")
	w.write(clientJSON, `{"source": "openapi.json", "settings": {}}`+"\n")
	term := w.open(usual, "project", "create")
	w.talk(term, []turn{
		{"> Continue", "", enter}, {"@alice/web is available", "", enter}, {"> Private", "", enter},
		{"> Use @alice/pets", "", down + down}, {"> Use a registered", "", enter},
		{"Which registered API?", "", "@alice/pets" + enter},
		{"> Not now", "", enter}, {"> Create @alice/web", "", escape}, {"> Not now", "", escape},
		{"Which registered API?", "", escape}, {"> Use a registered", "", escape}, {"> Private", "", escape},
		{"@alice/web is available", "", escape}, {"> Continue", "", enter}, {"@alice/web is available", "", enter},
		{"> Private", "", enter}, {"> Use a registered", "", enter}, {"> @alice/pets", "", enter},
		{"> Not now", "", enter}, {"> Create @alice/web", "", enter},
	})
	term.ends(0)
	if got := w.read(clientJSON); !strings.Contains(got, `"api": "@alice/pets"`) {
		t.Errorf("client.json is %s", got)
	}
}

// What was made on the way, by choices of its own, is named.
func TestWizard_LeftLateSaysWhatWasCreated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last turn
		code int
		says string
	}{
		"stopped": {turn{"> Cancel", "", enter}, 0,
			"Aborted: made .tool/app, published @alice/app 0.1.0; no project was created"},
		"interrupted": {turn{"> Cancel", "", ctrlC}, 130,
			"hint: made .tool/app, published @alice/app 0.1.0; no project was created"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEmpty(t)
			w.must("login", "--origin", w.origin, "--token", w.token)
			term := w.open(usual, "project", "create")
			w.talk(term, []turn{
				{"> Create one named app", "", enter}, {"> Publish @alice/app 0.1.0 now", "", enter},
				{"@alice/app is available", "", escape},
				{"> Continue", "", down}, c.last,
			})
			term.ends(c.code)
			if text := term.text(); !strings.Contains(strings.ReplaceAll(text, "\n", " "), c.says) {
				t.Errorf("it says\n%s", text)
			}
		})
	}
}

func TestLogin_AsksAgainForRevokedToken(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	w.hub.admin(t, "token", "revoke", "--user", "alice", "--all")
	fresh := w.hub.token(t, "alice")
	term := w.open(usual, "login", "--origin", w.origin)
	w.talk(term, []turn{{"The hub rejected the stored token", "login-revoked", down + enter}, {"Token for", "", fresh}})
	term.until("takes the token", func(s string) bool {
		return strings.Contains(s, strings.Repeat("*", len(fresh))) && !strings.Contains(s, "✗")
	})
	term.press(enter)
	term.ends(0)
	term = w.open(usual, "login", "--origin", w.origin) // it does: nothing is asked
	term.ends(0)
}

func TestWizard_NamesTakenSlug(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	term := w.open(usual, "project", "create")
	w.talk(term, []turn{
		{"> Continue", "", enter},
		{"@alice/web already exists.", "wizard-slug-taken", "web"}, // which is not preset
		{"✗ @alice/web already exists", "", enter},                 // which does not go on
		{"> web", "", "2"},
		{"@alice/web2 is available", "", enter},
		{"> Private", "", ctrlC},
	})
	term.ends(130)
}

func TestWizard_PlainTerminalUsesLines(t *testing.T) {
	t.Parallel()
	w := newEmpty(t)
	w.must("login", "--origin", w.origin, "--token", w.token)
	c := w.command("project", "create")
	c.Env = append(c.Env, "ACCESSIBLE=1")
	term := open(t, c, size{80, 100}, false)
	for i, turn := range []turn{
		{"(default 1):", "", "3\r"}, // there is no third
		{"(default 1):", "", "\r"},
		{"(default 1; < goes back):", "", "1\r"},
		{"(default app; < goes back):", "", "we_b\r"},
		{"(default app; < goes back):", "", "web\r"},
		{"(default 1; < goes back):", "", "<\r"},
		{"(default web; < goes back):", "", "\r"},
		{"(default 1; < goes back):", "", "2\r"}, // public
		{"(default 1; < goes back):", "", "\r"},  // register
		{"(default 2; < goes back):", "", "1\r"}, // push files
		{"(default 1; < goes back):", "", "\r"},  // create
	} {
		term.askedTimes(i+1, "(default", turn.wait)
		term.press(turn.keys)
	}
	term.ends(0)
	golden(t, "screen/wizard-plain.txt",
		times.ReplaceAllString(strings.ReplaceAll(term.text(), w.hub.origin, "http://hub.example.com"), "# s"))
	if out := term.output(); strings.Contains(out, escape) {
		t.Errorf("an escape code: %q", out)
	}
}

func TestLogin_AsksForHubAndToken(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]size{"": usual, "-narrow": narrow} {
		w := newEmpty(t)
		term := w.open(s, "login")
		w.talk(term, []turn{
			{"Which hub?", "login-hub" + name, "nonsense"},
			{"✗ not of the form", "login-hub-wrong" + name, ctrlU + w.origin + enter},
			{"> In a browser", "login-how" + name, down + enter},
			{"Token for", "login-token" + name, w.token[:20]},
			{"✗ not a whole token yet", "login-token-half" + name, escape},
			{"> Paste a token", "", escape},
			{"Which hub?", "", enter},
			{"> Paste a token", "", enter},
			{"Token for", "", w.token[:44] + "~"},
			{"✗ mistyped", "login-token-wrong" + name, ctrlU + w.token},
		})
		term.until("takes the token", func(s string) bool { return strings.Contains(s, "****") && !strings.Contains(s, "✗") })
		term.press(enter)
		term.ends(0)
		if !strings.HasPrefix(term.text(), "Logged in to "+w.origin) {
			t.Errorf("it says\n%s", term.text())
		}
		if strings.Contains(term.output(), w.token[:12]) {
			t.Error("the token was shown")
		}
		if !strings.Contains(w.must("status"), "as           alice") {
			t.Error("nobody is logged in")
		}
	}

	w := newEmpty(t)
	c := w.command("login", "--origin", w.origin)
	c.Env = append(c.Env, "TERM=dumb")
	term := open(t, c, usual, false)
	term.asked("Choose 1 to 2 (default 1):")
	term.press("2\r")
	term.asked("not shown (< goes back):")
	term.press(w.token[:30] + "\r")
	term.askedTimes(2, "not shown", "not shown (< goes back):")
	if !strings.Contains(term.text(), "Invalid answer: not a whole token") {
		t.Errorf("it says\n%s", term.text())
	}
	term.press(ctrlD)
	term.ends(130)
}

func TestPublish_RequiresYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.must("project", "create", "second")
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`+"\n")
	term := w.open(usual, "publish")
	w.talk(term, []turn{{"> Cancel", "publish-question", enter}})
	term.ends(0)
	w.show(term, "publish-no")
	if text, status := w.fetch("/v1/stacks/alice/web/versions/1.1.0"); status != 404 {
		t.Errorf("it is published: %s", text)
	}
	term = w.open(narrow, "publish")
	w.talk(term, []turn{{"> Cancel", "publish-question-narrow", up}, {"> Publish it", "", enter}})
	term.ends(0)
	w.get("/v1/stacks/alice/web/versions/1.1.0")

	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.2.0"}`+"\n")
	term = w.open(usual, "publish", "--force")
	term.ends(0)
	w.get("/v1/stacks/alice/web/versions/1.2.0")
}

func TestPull_OverwritesOnlyComparedFilesAndAfterAYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.write("index.html", "<p>theirs</p>\n")
	w.write("style.css", "p {}\n")
	w.must("push", "web", "--base-files-only")
	w.write("index.html", "<p>mine</p>\n")
	w.write("style.css", "p { color: red }\n")
	for _, c := range []struct {
		keys string
		code int
	}{{enter, 0}, {ctrlC, 130}} {
		term := w.open(usual, "pull", "web", "--base-files", "--output", "../app")
		term.wait("> Cancel")
		golden(t, "screen/pull-files.txt",
			strings.NewReplacer(w.hub.origin, "http://hub.example.com", filepath.Dir(w.dir), "DIR").Replace(term.text()))
		term.press(c.keys)
		term.ends(c.code)
		if got := w.read("index.html"); got != "<p>mine</p>\n" {
			t.Errorf("index.html is now %s", got)
		}
	}
	shown := w.open(usual, "pull", "web", "--base-files", "--output", "../app")
	shown.wait("> Cancel")
	shown.press(down)
	shown.wait("> Show what changes in them")
	shown.press(enter)
	shown.wait("unfold all")
	shown.press("a")
	shown.wait("color: red")
	golden(t, "screen/pull-files-contents.txt",
		strings.NewReplacer(w.hub.origin, "http://hub.example.com", filepath.Dir(w.dir), "DIR").Replace(shown.text()))
	shown.press(ctrlC)
	shown.ends(130)
	// What was not there to be compared is not overwritten.
	edited := w.open(narrow, "pull", "web", "--base-files")
	edited.wait("> Cancel")
	w.write("index.html", "<p>newer</p>\n")
	edited.press(up)
	edited.wait("> Overwrite them")
	edited.press(enter)
	edited.ends(1)
	if got := w.read("index.html"); got != "<p>newer</p>\n" {
		t.Errorf("index.html is now %s", got)
	}

	term := w.open(narrow, "pull", "web", "--base-files")
	w.talk(term, []turn{{"> Cancel", "", up}, {"> Overwrite them", "", enter}})
	term.ends(0)
	if got := w.read("index.html") + w.read("style.css"); got != "<p>theirs</p>\np {}\n" {
		t.Errorf("the files are now %s", got)
	}
}

func TestChooseLocal_OneOfSeveral(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.write(".tool/admin/client.json", `{"settings": {}}`)
	for _, args := range [][]string{{"push"}, {"pull"}, {"publish"}} {
		term := w.open(usual, args...)
		w.talk(term, []turn{{"> admin", "", ctrlC}})
		term.ends(130)
	}
	term := w.open(usual, "pull")
	w.talk(term, []turn{{"> admin", "choose-local", down}, {"> web", "", enter}})
	term.ends(0)
	if !strings.Contains(term.text(), "@alice/web") {
		t.Errorf("it says\n%s", term.text())
	}
}

func TestWizard_FollowsTerminalSize(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	term := w.open(usual, "project", "create")
	w.talk(term, []turn{{"> Continue", "", enter}, {"@alice/web is available", "", "2"}})
	term.wait("@alice/web2 is available")
	w.show(term, "wizard-resize")
	term.resize(narrow)
	term.until("is narrow", func(s string) bool {
		return strings.Contains(s, "@alice, the\naccount of the stack.") && strings.Contains(s, "> web2") &&
			strings.Contains(s, "esc back")
	})
	w.show(term, "wizard-resize-narrow")
	term.resize(usual)
	term.until("is wide", func(s string) bool { return strings.Contains(s, "the account of the stack.\n") })
	w.show(term, "wizard-resize")
	term.press(enter)
	term.wait("> Private")
	term.press(ctrlC)
	term.ends(130)
}

// The colours are those of the terminal's palette, whatever its background is.
func TestWizard_AsksTheTerminalNothing(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	for _, args := range [][]string{{"project", "create"}, {"login"}, {}} {
		term := open(t, w.command(args...), usual, true)
		term.until("is there", func(s string) bool {
			return strings.Contains(s, "> Continue") || strings.Contains(s, "Which hub?") || strings.Contains(s, "> web")
		})
		if out := term.output(); query.MatchString(out) {
			t.Errorf("tool %s asks the terminal: %q", strings.Join(args, " "), out)
		}
		term.press(ctrlC)
		term.ends(130)
	}
}

// query is an escape code that a terminal answers: its colours, its attributes,
// where its cursor is.
var query = regexp.MustCompile(`\x1b\](10|11|4;[0-9]+);\?|\x1b\[[0-9>?]*[cn]`)

// The forms are the same without colour, but for the colour.
func TestWizard_Colours(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	screens := map[string]string{}
	for _, variable := range []string{"NO_COLOR=", "NO_COLOR=1"} {
		c := w.command("project", "create")
		c.Env = append(c.Env, variable)
		term := open(t, c, usual, false)
		term.wait("> Continue")
		screens[variable] = term.text()
		term.press(ctrlC)
		term.ends(130)
		if coloured := colour.MatchString(term.output()); coloured != (variable == "NO_COLOR=") {
			t.Errorf("%s: colour is used: %t: %q", variable, coloured, term.output())
		}
	}
	if screens["NO_COLOR="] != screens["NO_COLOR=1"] {
		t.Errorf("the screens differ:\n%s\n%s", screens["NO_COLOR="], screens["NO_COLOR=1"])
	}
}

// The page's address is a link where the terminal says that it shows them, and
// nothing but text elsewhere.
func TestProjectView_PageIsALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	page := w.hub.origin + "/@alice/web"
	for variables, linked := range map[string]bool{
		"VTE_VERSION=7000": true, "TERM_PROGRAM=WezTerm": true, "FORCE_HYPERLINK=1": true,
		"TERM=xterm": false, "VTE_VERSION=4000": false, "WT_SESSION=1 FORCE_HYPERLINK=0": false,
		"VTE_VERSION=7000 TERM=dumb": false,
	} {
		c := w.command("project", "view", "@alice/web")
		c.Env = append(c.Env, strings.Fields(variables)...)
		term := open(t, c, usual, false)
		term.ends(0)
		if got := strings.Contains(term.output(), "\x1b]8;;"+page+"\x1b\\"+page+"\x1b]8;;\x1b\\"); got != linked {
			t.Errorf("%s: linked: %t: %q", variables, got, term.output())
		}
		if !linked && strings.Contains(term.output(), "\x1b]8") {
			t.Errorf("%s: a link: %q", variables, term.output())
		}
	}
	c := w.command("project", "view", "@alice/web", "--no-input")
	c.Env = append(c.Env, "FORCE_HYPERLINK=1")
	term := open(t, c, usual, false)
	term.ends(0)
	if strings.Contains(term.output(), escape) {
		t.Errorf("strict mode writes an escape code: %q", term.output())
	}
}
