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

// Record writes value into the text member of client.json called field, project or
// api, whatever its value was, and reports whether the file's bytes changed. An edit
// made since c was read is kept. c is then what the file holds.
//
// When the file cannot be changed it stays as it was; the failure is not_recorded
// and holds the line to add, or to change, by hand.
func (c *Client) Record(field, value string) (changed bool, err error) {
	return c.record(field, value, false)
}

// Fill is [Client.Record] for an absent field: one that is there by now is left alone.
func (c *Client) Fill(field, value string) (changed bool, err error) {
	return c.record(field, value, true)
}

func (c *Client) record(field, value string, keep bool) (bool, error) {
	doc := c.target()
	changed, err := c.update(doc.name, func(latest document) ([]byte, error) {
		if _, ok := latest.Lookup(field); ok && keep {
			return latest.Text(), nil
		}
		return setField(latest, field, value), nil
	})
	if err != nil {
		how := "add this line to %s by hand: %q: %s"
		if _, ok := doc.Lookup(field); ok {
			how = "change the line in %s by hand, to: %q: %s"
		}
		return false, notRecorded(err).WithHint(how, doc.name, field, jsonedit.String(value).Text)
	}
	return changed, nil
}

// target is the file that names the destination: that of the environment, else client.json.
func (c *Client) target() document {
	if c.env != nil {
		return c.env.doc
	}
	return c.doc
}

func setField(d document, field, value string) []byte {
	return d.Edit(with(d.Members(), field, jsonedit.String(value)))
}

// Edits are the files that hold the settings, and their new texts.
type Edits []edit

type edit struct {
	doc  document
	text []byte
}

// PlanTexts replaces the texts of the files that have the settings, but writes nothing.
func (c *Client) PlanTexts(by func(name string, text []byte) ([]byte, error)) (edits Edits, err error) {
	docs := []document{c.doc}
	if c.env != nil {
		docs = []document{c.env.doc, c.doc}
	}
	for _, doc := range docs {
		text, err := by(doc.name, doc.Text())
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
	if c.env == nil {
		text, err := setSettings(c.doc, nested)
		return Edits{{c.doc, text}}, err
	}
	over, own := membersOf(c.env.settings), c.ownSettings()
	base, over := split(own, over, nested.Members)
	edits := Edits{{c.env.doc, c.env.doc.Text()}, {c.doc, c.doc.Text()}}
	if len(over) > 0 || c.env.settings != nil {
		edits[0].text, err = c.env.doc.within(with(c.env.doc.Members(), memberSettings, jsonedit.Object(over)))
	}
	if err == nil && (len(base) > 0 || len(own) > 0) {
		edits[1].text, err = setSettings(c.doc, jsonedit.Object(base))
	}
	return edits, err
}

// Apply writes what Plan returned, and returns the files whose bytes changed. c is then what
// the files hold.
//
// When a file is no longer what c was read from, it stays as it is: whoever
// confirmed the change has not seen those settings. That failure, and any other,
// is not_recorded.
func (c *Client) Apply(edits Edits) (changed []string, err error) {
	for i, e := range edits {
		written, err := c.update(e.doc.name, func(latest document) ([]byte, error) {
			if !bytes.Equal(latest.Text(), e.doc.Text()) {
				return nil, invalid(e.doc.name, errors.New("it was edited meanwhile")).
					WithHint("run the command again to start from the edited file")
			}
			return e.text, nil
		})
		if err != nil {
			c.takeBack(edits[:i])
			return nil, notRecorded(err)
		}
		if written {
			changed = append(changed, e.doc.name)
		}
	}
	return changed, nil
}

// takeBack restores files that were edited, as far as that is possible.
func (c *Client) takeBack(edits Edits) {
	for _, e := range edits {
		_, _ = c.local.Workspace.update(e.doc.name, true, func(text []byte) ([]byte, error) {
			if bytes.Equal(text, e.text) {
				return e.doc.Text(), nil
			}
			return text, nil
		})
	}
}

// setSettings returns the text of d with other settings.
func setSettings(d document, nested jsonedit.Value) ([]byte, error) {
	members, settings := d.Members(), nested.Members
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

// within is the edited text of a file that can be read again.
func (d document) within(want []jsonedit.Member) ([]byte, error) {
	text, ok := d.EditWithin(maxFile, want)
	if !ok {
		return nil, failure.New(wire.CodeTooLarge, "%s would be larger than %d MiB", d.name, maxFile>>20).
			WithHint("nothing was changed")
	}
	return text, nil
}

// CheckWritable reports, as a failure not_recorded, that the file which names the
// destination could not be changed now.
func (c *Client) CheckWritable() error {
	if err := c.local.Workspace.checkWritable(c.target().name); err != nil {
		return notRecorded(err)
	}
	return nil
}

// update changes client.json, or the environment's file, by edit, which is given what the
// file holds by then. c is then what the files hold.
func (c *Client) update(name string, edit func(latest document) ([]byte, error)) (bool, error) {
	var result *Client
	changed, err := c.local.Workspace.update(name, true, func(text []byte) ([]byte, error) {
		if text == nil {
			return nil, invalid(name, fs.ErrNotExist)
		}
		latest, err := parse(name, text)
		if err != nil {
			return nil, err
		}
		if text, err = edit(latest); err != nil {
			return nil, err
		}
		result, err = c.withFile(name, text)
		return text, err
	})
	if err == nil {
		*c = *result
	}
	return changed, err
}

// withFile returns c as it is with another text of one of its files.
func (c *Client) withFile(name string, text []byte) (*Client, error) {
	doc, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	if c.env == nil {
		return c.local.clientOf(doc)
	}
	base, own := c.doc, c.env.doc
	if name == base.name {
		base = doc
	} else {
		own = doc
	}
	client, err := c.local.clientOf(base)
	if err != nil {
		return nil, err
	}
	e, err := environmentOf(own)
	if err != nil {
		return nil, err
	}
	return client, client.apply(e)
}

func notRecorded(err error) failure.Failure {
	return failure.Of(err).WithCode(failure.CodeNotRecorded)
}
