package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// Record sets a text member of client.json, project or api, and reports whether the file's bytes changed. It keeps
// edits that were made since c was read, and reads c again. With keep, a field that is there by now stays.
//
// When the file cannot be changed it stays as it was; the failure is not_recorded
// and holds the line to add, or to change, by hand.
func (c *Client) Record(field, value string, keep bool) (changed bool, err error) {
	doc := c.target()
	changed, err = c.local.Workspace.update(doc.name, true, func(text []byte) ([]byte, error) {
		if text == nil {
			return nil, invalid(doc.name, fs.ErrNotExist)
		}
		latest, err := parse(doc.name, text)
		if err == nil {
			err = c.local.check(latest)
		}
		if err != nil {
			return nil, err
		}
		if _, ok := latest.Lookup(field); ok && keep {
			return text, nil
		}
		return setField(latest, field, value), nil
	})
	if err == nil {
		err = c.reload()
	}
	if err != nil {
		how := "add this line to %s by hand: %q: %s"
		if _, ok := doc.Lookup(field); ok {
			how = "change the line in %s by hand, to: %q: %s"
		}
		return false, notRecorded(err).WithHint(how, doc.name, field, jsonedit.String(value).Text)
	}
	return changed, nil
}

// check returns what is wrong with a client.json, or with the file of an environment.
func (p *Project) check(doc document) (err error) {
	if doc.name == p.file(clientFile) {
		_, err = p.clientOf(doc)
	} else {
		_, err = environmentOf(doc)
	}
	return err
}

func (c *Client) reload() error {
	latest, err := c.local.Client()
	if err == nil {
		*c = *latest
	}
	return err
}

// target is the file that names the destination: that of the environment, else client.json.
func (c *Client) target() document {
	if c.env != nil {
		return c.env.doc
	}
	return c.doc
}

func setField(d document, field, value string) []byte {
	return d.Edit(with(d.Members, field, jsonedit.String(value)))
}

// Edits are the files that hold the settings, and their new texts.
type Edits []edit

type edit struct {
	doc  document
	text []byte
}

// PlanTexts returns edits that set each file with settings to the result of by.
func (c *Client) PlanTexts(by func(name string, text []byte) ([]byte, error)) (edits Edits, err error) {
	docs := []document{c.doc}
	if c.env != nil {
		docs = []document{c.env.doc, c.doc}
	}
	for _, doc := range docs {
		text, err := by(doc.name, doc.Source)
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit{doc, text})
	}
	return edits, nil
}

// Plan edits the settings of client.json, and those of the environment, member by member
// until they fold to config, but writes nothing. What the environment's settings have is
// changed there, anything else in client.json. Enrichments go where client.json has them,
// else into the settings. The failure is too_large when a file would not be read again.
func (c *Client) Plan(config flat.Config) (Edits, error) {
	nested, err := jsonedit.ParseValue(config.Unfold())
	if err != nil {
		return nil, notRecorded(fmt.Errorf("the settings of the config: %w", err))
	}
	own, over := c.ownSettings(), []jsonedit.Member(nil)
	if c.env != nil {
		over = membersOf(c.env.settings)
	}
	base, over := split(own, over, nested.Members)
	var edits Edits
	if c.env != nil {
		e := edit{c.env.doc, c.env.doc.Source}
		if len(over) > 0 || c.env.settings != nil {
			e.text, err = e.doc.within(with(e.doc.Members, memberSettings, jsonedit.Object(over)))
		}
		edits = append(edits, e)
	}
	e := edit{c.doc, c.doc.Source}
	if err == nil && (c.env == nil || len(base) > 0 || len(own) > 0) {
		e.text, err = setSettings(c.doc, jsonedit.Object(base))
	}
	if err != nil {
		return nil, err
	}
	edits = append(edits, e)
	for _, e := range edits {
		edited, err := parse(e.doc.name, e.text)
		if err == nil {
			err = c.local.check(edited)
		}
		if err != nil {
			return nil, notRecorded(err)
		}
	}
	return edits, nil
}

// Apply writes what Plan returned, and returns the files whose bytes changed. c is then what
// the files hold.
//
// A file that has changed since c was read stays as it is, because the person who
// confirmed the change has not seen its settings. That failure, and any other, is
// not_recorded.
func (c *Client) Apply(edits Edits) (changed []string, err error) {
	ws := c.local.Workspace
	for i, e := range edits {
		if err = ws.ReplaceFile(e.doc.name, e.doc.Source, e.text); err != nil {
			for _, done := range edits[:i] { // as far as that is possible
				_ = ws.ReplaceFile(done.doc.name, done.text, done.doc.Source)
			}
			f := notRecorded(err)
			if errors.Is(err, errEdited) {
				f = f.WithHint("run the command again to start from the edited file")
			}
			return nil, f
		}
		if !bytes.Equal(e.doc.Source, e.text) {
			changed = append(changed, e.doc.name)
		}
	}
	if err := c.reload(); err != nil {
		return nil, notRecorded(err)
	}
	return changed, nil
}

func setSettings(d document, nested jsonedit.Value) ([]byte, error) {
	members, settings := d.Members, nested.Members
	if _, atTop := d.Lookup(memberEnrichments); atTop {
		settings = without(settings, memberEnrichments)
		if v, ok := nested.Lookup(memberEnrichments); ok {
			members = with(members, memberEnrichments, v)
		} else {
			members = without(members, memberEnrichments)
		}
	}
	return d.within(with(members, memberSettings, jsonedit.Object(settings)))
}

// within returns the edited text, or fails if it is too large to be read again.
func (d document) within(want []jsonedit.Member) ([]byte, error) {
	text, ok := d.EditWithin(maxFile, want)
	if !ok {
		return nil, failure.New(wire.CodeTooLarge, "%s would be larger than %d MiB", d.name, maxFile>>20).
			WithHint("nothing was changed")
	}
	return text, nil
}

// CheckWritable fails with not_recorded if the file that names the destination cannot be changed now.
func (c *Client) CheckWritable() error {
	ws, name := c.local.Workspace, c.target().name
	file, err := ws.resolve(name)
	if err != nil {
		return notRecorded(err)
	}
	if err := ws.write(file, nil, false, func(string) error { return nil }); err != nil {
		return notRecorded(unwritable(name, err))
	}
	return nil
}

func notRecorded(err error) failure.Failure {
	return failure.Of(err).WithCode(failure.CodeNotRecorded)
}

// Each calls f with each file that the edits change, and what it has before and after them.
func (edits Edits) Each(f func(name string, before, after []byte) error) error {
	for _, e := range edits {
		if before := e.doc.Source; !bytes.Equal(before, e.text) {
			if err := f(e.doc.name, before, e.text); err != nil {
				return err
			}
		}
	}
	return nil
}

var errEdited = errors.New("it was edited meanwhile")

// ReplaceFile replaces what a file of the workspace has, unless somebody has changed it since.
func (w *Workspace) ReplaceFile(name string, before, after []byte) error {
	_, err := w.update(name, true, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, before) {
			return nil, invalid(name, errEdited)
		}
		return after, nil
	})
	return err
}
