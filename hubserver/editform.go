package hubserver

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// The forms that edit one key at a time, for browsers without JavaScript. Keys and values
// travel between the steps as JSON texts, because browsers change line endings in fields.

// editPage asks for the value of ?key=, or for a new key without it.
func (s *Server) editPage(c *call) error {
	view, project, err := c.projectPage("Config")
	if err != nil {
		return err
	}
	switch {
	case view == nil:
		return c.absentProject()
	case !project.CanWrite:
		return s.configPage(c)
	}
	config, settings, err := c.flatConfig()
	if isNotFound(err) { // it was deleted meanwhile
		return c.absentProject()
	}
	if err != nil {
		return err
	}
	shown := page.Edit{Project: project, Step: page.EditForm, Base: config.Revision, Type: "text"}
	if q := c.r.URL.Query(); q.Has("key") {
		shown.Key = q.Get("key")
		text, ok := settings.Get(shown.Key)
		if !ok {
			return c.seeOther("/" + project.Ref)
		}
		shown.KeyText, shown.Was = jsonText(shown.Key), text
		shown.Type, shown.Value = inputOf(text)
	}
	return c.showEdit(http.StatusOK, shown)
}

func (c *call) showEdit(status int, shown page.Edit) error {
	body, err := shown.Render()
	return c.html(status, body, err)
}

// editForm reviews an edit of one key, and saves it if it is one that was reviewed.
func (s *Server) editForm(c *call) error {
	form, err := c.formUpTo(3*s.Limits.ConfigBytes + maxForm)
	if err != nil {
		return err
	}
	if err := c.takeAtMost(changing, jsonMemory([]byte(form.Get("text")+form.Get("value")))+patchedCost*s.Limits.ConfigBytes); err != nil {
		return err
	}
	view, project, err := c.projectPage("Config")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	shown := page.Edit{Project: project, Base: form.Get("base"), Was: form.Get("was"), Text: form.Get("text"), KeyText: form.Get("keyText")}
	if shown.KeyText == "" {
		shown.Key = form.Get("key")
	} else if shown.Key, err = stringOf(shown.KeyText); err != nil {
		return invalidBody("", "the key is not a JSON string")
	}
	if err := wire.CheckSyntax([]byte(shown.Text)); shown.Text != "" && err != nil {
		return invalidBody("", "the value is not one JSON value: %v", err)
	}
	switch step := form.Get("step"); {
	case step == "save" && form.Get("choice") == "theirs":
		return c.seeOther("/" + project.Ref)
	case step == "save":
		return c.saveEdit(shown)
	case step == "remove":
		shown.Text = ""
		return c.reviewEdit(shown)
	}
	shown.Type, shown.Value = form.Get("type"), lineEndings(form.Get("value"), shown.Was)
	if shown.Text, err = textOf(shown.Type, shown.Value); err != nil {
		return c.refuseEdit(shown, err)
	}
	return c.reviewEdit(shown)
}

// refuseEdit shows the form again with what is wrong.
func (c *call) refuseEdit(shown page.Edit, err error) error {
	var refused *problem
	if errors.As(err, &refused) && refused.Status != http.StatusUnprocessableEntity && refused.Status != http.StatusRequestEntityTooLarge {
		return err
	}
	if refused != nil {
		_, detail, found := strings.Cut(refused.Detail, ": ")
		if !found || len(refused.Errors) == 0 {
			detail = refused.Detail
		}
		err = errors.New(detail)
	}
	if shown.Type == "" && shown.Text != "" {
		shown.Type, shown.Value = inputOf(shown.Text)
	}
	shown.Step, shown.Refused = page.EditForm, sentence(err.Error())
	return c.showEdit(http.StatusUnprocessableEntity, shown)
}

// reviewEdit shows the difference that an edit makes, before it is saved.
func (c *call) reviewEdit(shown page.Edit) error {
	config, settings, err := c.flatConfig()
	if err != nil {
		return err
	}
	now, ok := settings.Get(shown.Key)
	if shown.KeyText == "" && ok {
		return c.refuseEdit(shown, errors.New("this key exists already"))
	}
	if conflicts(now, shown) {
		return c.conflictEdit(shown, config, now)
	}
	if _, err := applied(settings, shown); err != nil {
		return c.refuseEdit(shown, err)
	}
	shown.Step, shown.KeyText = page.EditReview, jsonText(shown.Key)
	return c.showEdit(http.StatusOK, shown)
}

// conflicts reports whether somebody else has changed the key of an edit since its base,
// and differently. now is the key's text, "" without one.
func conflicts(now string, edit page.Edit) bool { return now != edit.Was && now != edit.Text }

func (c *call) conflictEdit(shown page.Edit, current *store.Config, now string) error {
	shown.Step, shown.KeyText, shown.Base, shown.Theirs = page.EditConflict, jsonText(shown.Key), current.Revision, now
	shown.TheirsBy = current.UpdatedBy
	return c.showEdit(http.StatusConflict, shown)
}

// conflictError ends the transaction of an edit that conflicts.
type conflictError struct {
	current *store.Config
	now     string
}

func (*conflictError) Error() string { return "the key was changed since" }

// saveEdit saves an edit on the config as it is now: what others did to other keys stays.
func (c *call) saveEdit(shown page.Edit) error {
	written, err := c.writeConfig(configWrite{via: wire.ViaPage, change: func(current *store.Config) (flat.Config, []byte, error) {
		if current.Body == nil { // it is damaged, which the store reports
			return flat.Config{}, nil, nil
		}
		settings, err := flat.Parse(current.Body)
		if err != nil {
			return flat.Config{}, nil, err
		}
		now, _ := settings.Get(shown.Key)
		if conflicts(now, shown) {
			return flat.Config{}, nil, &conflictError{current, now}
		}
		config, err := applied(settings, shown)
		if err != nil {
			return flat.Config{}, nil, err
		}
		if err := c.s.checkConfig(config); err != nil {
			return flat.Config{}, nil, err
		}
		return config, config.Canonical(), nil
	}})
	var conflict *conflictError
	switch {
	case errors.As(err, &conflict):
		return c.conflictEdit(shown, conflict.current, conflict.now)
	case err != nil:
		return c.refuseEdit(shown, err)
	}
	shown.Step, shown.Base = page.EditSaved, written.Revision
	return c.showEdit(http.StatusOK, shown)
}

// applied returns settings with an edit.
func applied(settings flat.Config, edit page.Edit) (flat.Config, error) {
	var config flat.Config
	var err error
	if edit.Text == "" {
		config, err = settings.Patch(nil, []string{edit.Key})
	} else {
		config, err = settings.Patch([]byte("{"+jsonText(edit.Key)+":"+edit.Text+"}"), nil)
	}
	if err != nil {
		err = invalidConfig("", err)
		var syntax *wire.SyntaxError
		if errors.As(err, &syntax) {
			err = invalidBody("", "the value is not JSON: %v", syntax.Err)
		}
	}
	return config, err
}

// jsonText returns s as a JSON text.
func jsonText(s string) string {
	text, _ := jsontext.AppendQuote(nil, fit(s)) // it fails for invalid UTF-8 only
	return string(text)
}

// stringOf returns the string that a JSON text stands for.
func stringOf(text string) (string, error) {
	s, err := jsontext.AppendUnquote(nil, text)
	return string(s), err
}

// inputOf returns the type of a canonical text, and what a field shows for it.
func inputOf(text string) (kind, value string) {
	switch text[0] {
	case '"':
		value, _ = stringOf(text)
		return "text", value
	case '[':
		return "list", text
	case '{':
		return "object", ""
	case 't', 'f':
		return "boolean", text
	case 'n':
		return "null", ""
	}
	return "number", text
}

// textOf returns the JSON text of what was typed into a field.
func textOf(kind, value string) (string, error) {
	if kind == "text" {
		return jsonText(value), nil
	}
	switch kind {
	case "null":
		return "null", nil
	case "object":
		return "{}", nil
	}
	text := jsontext.Value(strings.TrimSpace(value))
	needed := map[string]struct{ kinds, detail string }{
		"number": {"0", "a number is written as in JSON: 12, -0.5 or 1e6"}, "boolean": {"tf", "write true or false"}, "list": {"[", "a list is written as in JSON, such as [1, 2]"},
	}[kind]
	if needed.kinds == "" {
		return "", errors.New("choose a type")
	}
	if err := wire.CheckSyntax(text); err != nil || !strings.ContainsRune(needed.kinds, rune(text.Kind())) {
		return "", errors.New(needed.detail)
	}
	// Canonical, so that it can be compared with what is stored.
	config, err := flat.Parse([]byte(`{"value":` + string(text) + `}`))
	if err != nil {
		return "", err
	}
	canonical, _ := config.Get("value")
	return canonical, nil
}

// lineEndings returns a text as it was typed: browsers send every line ending as \r\n.
// Those of a text that had only such ones are kept.
func lineEndings(value, was string) string {
	former, err := stringOf(was)
	if err == nil && strings.Contains(former, "\r\n") && strings.Count(former, "\n") == strings.Count(former, "\r\n") {
		return value
	}
	return strings.ReplaceAll(value, "\r\n", "\n")
}
