package hubserver_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/wire"
)

const editPath = "/@acme/web/edit"

// fields returns the hidden fields of a page's form with more, given as name and value
// in turn, as a body.
func (a *answer) fields(more ...string) typed {
	a.t.Helper()
	var all []string
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`).FindAllStringSubmatch(string(a.body), -1) {
		all = append(all, m[1], html.UnescapeString(m[2]))
	}
	return form(append(all, more...)...)
}

// says fails the test unless the page contains a text.
func (a *answer) says(text string) *answer {
	a.t.Helper()
	if !strings.Contains(html.UnescapeString(string(a.body)), text) {
		a.t.Fatalf("%s does not say %q: %s", a.call, text, a.body)
	}
	return a
}

func TestEditForm_EditsReviewsAndSaves(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"a": {"b": 1.0}, "text": "one\ntwo", "windows": "one\r\ntwo", "list": [1, 2]}`)
		alice := hub.session("alice")
		edited := func(key string) *answer {
			t.Helper()
			return alice.get(editPath + "?" + url.Values{"key": {key}}.Encode()).want(200)
		}
		save := func(form *answer, more ...string) *answer {
			t.Helper()
			review := alice.post(editPath, form.fields(append(more, "step", "review")...)).want(200).says("Review and save")
			return alice.post(editPath, review.fields("step", "save")).want(200).says("Saved: 1 ")
		}
		save(edited("a.b"), "type", "number", "value", " 1.00 ").says("1.0</del> → <ins>1.00")
		save(edited("text"), "type", "text", "value", "one\r\ntwo\r\nthree")
		save(edited("windows"), "type", "text", "value", "one\r\ntwo\r\nthree")
		save(edited("list"), "type", "list", "value", `[1, {"b": 2.0, "a": 1}]`)
		save(alice.get(editPath).want(200), "key", `a.c\.d`, "type", "boolean", "value", "true")
		save(alice.get(editPath).want(200), "key", "", "type", "null")
		hub.wantConfig(`{"":null,"a.b":1.00,"a.c\\.d":true,"list":[1,{"a":1,"b":2.0}],"text":"one\ntwo\nthree","windows":"one\r\ntwo\r\nthree"}`)

		// Remove a key, and undo it.
		review := alice.post(editPath, edited("list").fields("step", "remove")).want(200).says("1 removed")
		saved := alice.post(editPath, review.fields("step", "save")).want(200)
		hub.wantConfig(`{"":null,"a.b":1.00,"a.c\\.d":true,"text":"one\ntwo\nthree","windows":"one\r\ntwo\r\nthree"}`)
		alice.post(editPath, saved.fields("step", "save")).want(200)
		got := hub.wantConfig(`{"":null,"a.b":1.00,"a.c\\.d":true,"list":[1,{"a":1,"b":2.0}],"text":"one\ntwo\nthree","windows":"one\r\ntwo\r\nthree"}`)
		if got.UpdatedVia != wire.ViaPage || got.UpdatedBy != "alice" {
			t.Errorf("it was written by %s through %s", got.UpdatedBy, got.UpdatedVia)
		}
	})
}

func TestEditForm_MergesAndAsks(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"a": 1, "b": 2}`)
		alice := hub.session("alice")
		page := alice.get(editPath + "?key=a").want(200)
		review := alice.post(editPath, page.fields("step", "review", "type", "number", "value", "10")).want(200)

		// Another key: merged.
		hub.settings(`{"a": 1, "b": 20}`)
		alice.post(editPath, review.fields("step", "save")).want(200).says("Saved")
		hub.wantConfig(`{"a":10,"b":20}`)
		alice.post(editPath, review.fields("step", "save")).want(200).says("Saved") // the form is sent again

		// The same key: a choice.
		page = alice.get(editPath + "?key=a").want(200)
		review = alice.post(editPath, page.fields("step", "review", "type", "number", "value", "11")).want(200)
		hub.settings(`{"a": 12, "b": 20}`)
		conflict := alice.post(editPath, review.fields("step", "save")).want(409).says("base").says(">10<").says(">12<").says(">11<")
		if again := alice.post(editPath, page.fields("step", "review", "type", "number", "value", "11")); again.status != 409 {
			t.Errorf("the review of an outdated edit is %d", again.status)
		}
		hub.wantConfig(`{"a":12,"b":20}`)
		if kept := alice.post(editPath, conflict.fields("step", "save", "choice", "theirs")).want(303); kept.header.Get("Location") != "/@acme/web" {
			t.Errorf("it leads to %s", kept.header.Get("Location"))
		}
		hub.wantConfig(`{"a":12,"b":20}`)
		alice.post(editPath, conflict.fields("step", "save", "choice", "mine")).want(200)
		hub.wantConfig(`{"a":11,"b":20}`)

		// A key that was removed, and one that was added.
		page = alice.get(editPath + "?key=a").want(200)
		hub.settings(`{"b": 20, "new": 1}`)
		alice.post(editPath, page.fields("step", "review", "type", "number", "value", "12")).want(409).says("removed")
		alice.post(editPath, alice.get(editPath).fields("step", "review", "key", "new", "type", "null")).want(422).says("exists already")
	})
}

func TestEditForm_RefusesWhatIsNoConfig(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"a": {"b": 1}, "c": 2}`)
	alice := hub.session("alice")
	for _, test := range []struct{ key, kind, value, want string }{
		{"a", "null", "", "is below it"}, {"c.d", "null", "", "holds a value"}, {`x\y`, "null", "", `\`}, {"c", "null", "", "exists already"},
		{"n", "number", "1,5", "a number is written"}, {"n", "number", "", "a number is written"}, {"n", "boolean", "yes", "true or false"},
		{"n", "list", "{}", "a list is written"}, {"n", "list", `[{"a":1,"a":2}]`, "a list is written"}, {"n", "other", "", "choose a type"}, {"n", "text", strings.Repeat("x", 2<<20), "above the limit"},
	} {
		form := alice.get(editPath).want(200)
		answer := alice.post(editPath, form.fields("step", "review", "key", test.key, "type", test.kind, "value", test.value))
		if answer.status == 200 { // only saving finds it
			answer = alice.post(editPath, answer.fields("step", "save"))
		}
		if answer.status != 422 || !strings.Contains(strings.ToLower(html.UnescapeString(string(answer.body))), test.want) {
			t.Errorf("%q %s %.20q: %d %.3000s", test.key, test.kind, test.value, answer.status, answer.body)
		}
	}
	for _, bad := range []typed{form("step", "save", "keyText", "x"), form("step", "save", "keyText", `"k"`, "text", "{"), form("step", "save", "keyText", `"k"`, "text", `{"a":1}`), form("step", "save", "keyText", `"k"`, "text", `1,"c":3`)} {
		alice.post(editPath, bad).want(422)
	}
	hub.wantConfig(`{"a.b":1,"c":2}`)
	hub.session("rita").get(editPath).want(200).says("Search keys and values")
	hub.session("rita").post(editPath, form("step", "save", "keyText", `"c"`, "was", "2", "text", "3")).want(403)
	hub.session("alice", wire.ScopeUseLimit).post(editPath, form("step", "save", "keyText", `"c"`, "was", "2", "text", "3")).want(403)
	alice.do("POST", editPath, form("step", "save", "keyText", `"c"`, "was", "2", "text", "3"), header{"Sec-Fetch-Site": "cross-site"}).want(403)
	hub.wantConfig(`{"a.b":1,"c":2}`)
}

func TestEditForm_WorksInABrowserWithoutJavaScript(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"theme": {"colour": "teal"}, "title": "Pets"}`)
	b := newBrowser(t)
	b.signIn(t, hub.session("alice"))
	off := emulation.SetScriptExecutionDisabledParams{Value: true}
	if _, err := chromedp.Call(b.Context, emulation.SetScriptExecutionDisabled, off); err != nil {
		t.Fatal(err)
	}
	do(t, b, chromedp.Steps(chromedp.EmulateViewport(320, 800), chromedp.Navigate(hub.url+"/@acme/web"), chromedp.SendKeys("[type=search][name=q][maxlength='200']", "teal\r")))
	do(t, b, chromedp.Steps(
		chromedp.WaitVisible(`a[aria-label="Edit theme.colour"]`), chromedp.Click(`a[aria-label="Edit theme.colour"]`),
		chromedp.WaitVisible("#value"), chromedp.SetValue("#value", "plum"), chromedp.Click("[value=review]"),
		chromedp.WaitVisible("[value=save]"),
	))
	if wide := do(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > 320 {
		t.Errorf("the review is %d pixels wide", wide)
	}
	if got := do(t, b, chromedp.Text(".diff")); !strings.Contains(got, `theme.colour: "teal" → "plum"`) {
		t.Errorf("the review shows %q", got)
	}
	do(t, b, chromedp.Steps(chromedp.Click("[value=save]"), chromedp.WaitVisible(".notice.good")))
	hub.wantConfig(`{"theme.colour":"plum","title":"Pets"}`)
	do(t, b, chromedp.Steps(chromedp.Click("[value=save]"), chromedp.WaitReady(`[value='"plum"'][name=text]`)))
	hub.wantConfig(`{"theme.colour":"teal","title":"Pets"}`)
}
