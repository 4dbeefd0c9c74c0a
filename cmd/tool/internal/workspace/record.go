package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/flat"
)

// Record writes value into the text member of client.json called field, project or
// api, whatever stands there, and reports whether the file's bytes changed. An edit
// that somebody made since c was read stays. c is then what the file holds.
//
// When the file cannot be changed it stays as it was; the failure is not_recorded
// and holds the line to add, or to change, by hand.
func (c *Client) Record(field, value string) (changed bool, err error) {
	return c.record(field, value, setField)
}

// Fill is [Client.Record] for an absent field: one that is there by now is left alone.
func (c *Client) Fill(field, value string) (changed bool, err error) {
	return c.record(field, value, fillField)
}

func (c *Client) record(field, value string, edit func(d document, field, value string) []byte) (bool, error) {
	changed, err := c.update(func(latest *Client) ([]byte, error) {
		return edit(latest.doc, field, value), nil
	})
	if err != nil {
		how := "add this line to %s by hand: %q: %s"
		if _, ok := c.doc.Lookup(field); ok {
			how = "change the line in %s by hand, to: %q: %s"
		}
		return false, notRecorded(err).WithHint(how, c.doc.name, field, jsonedit.String(value).Text)
	}
	return changed, nil
}

func setField(d document, field, value string) []byte {
	return d.Edit(with(d.Members(), field, jsonedit.String(value)))
}

func fillField(d document, field, value string) []byte {
	if _, ok := d.Lookup(field); ok {
		return d.Text()
	}
	return setField(d, field, value)
}

// Replace edits the settings of client.json member by member until they fold to
// config, and reports whether the file's bytes changed. Enrichments go where the
// file has them, else into the settings. c is then what the file holds.
//
// When the file is no longer what c was read from, it stays as it is: whoever
// confirmed the change has not seen those settings. That failure, and any other,
// is not_recorded.
func (c *Client) Replace(config flat.Config) (changed bool, err error) {
	changed, err = c.update(func(latest *Client) ([]byte, error) {
		if !bytes.Equal(latest.doc.Text(), c.doc.Text()) {
			return nil, invalid(c.doc.name, errors.New("somebody edited it meanwhile")).WithHint("run the command again to start from the edited file")
		}
		return setConfig(c.doc, config)
	})
	if err != nil {
		return false, notRecorded(err)
	}
	return changed, nil
}

func setConfig(d document, config flat.Config) ([]byte, error) {
	nested, err := jsonedit.ParseValue(config.Unfold())
	if err != nil {
		return nil, fmt.Errorf("the settings of the config: %w", err)
	}
	members, settings := d.Members(), nested.Members
	if _, atTop := d.Lookup(memberEnrichments); atTop {
		settings = without(settings, memberEnrichments)
		if v, ok := nested.Lookup(memberEnrichments); ok {
			members = with(members, memberEnrichments, v)
		} else {
			members = without(members, memberEnrichments)
		}
	}
	return d.Edit(with(members, memberSettings, jsonedit.Object(settings))), nil
}

// CheckWritable reports, as a failure not_recorded, that client.json could not be
// changed now.
func (c *Client) CheckWritable() error {
	if err := c.local.Workspace.checkWritable(c.doc.name); err != nil {
		return notRecorded(err)
	}
	return nil
}

// update changes client.json by edit, which is given what the file holds by then.
func (c *Client) update(edit func(latest *Client) ([]byte, error)) (bool, error) {
	var result *Client
	changed, err := c.local.Workspace.update(c.doc.name, func(text []byte) ([]byte, error) {
		if text == nil {
			return nil, invalid(c.doc.name, fs.ErrNotExist)
		}
		latest, err := c.local.parseClient(text)
		if err != nil {
			return nil, err
		}
		edited, err := edit(latest)
		if err != nil {
			return nil, err
		}
		result, err = c.local.parseClient(edited)
		return edited, err
	})
	if err == nil {
		*c = *result
	}
	return changed, err
}

func notRecorded(err error) failure.Failure {
	return failure.Of(err).WithCode(failure.CodeNotRecorded)
}
