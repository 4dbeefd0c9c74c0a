package workspace

import (
	"errors"
	"io/fs"

	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient"
)

// HubFile says which hub the workspace belongs to.
const HubFile = toolDir + "/hub.json"

const memberOrigin = "origin"

// Hub returns the origin of the hub that the workspace belongs to, as hub.json says, ""
// for none. The failure is invalid_file, with line and column.
func (w *Workspace) Hub() (origin string, err error) {
	doc, err := w.readDocument(HubFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	written, err := doc.origin()
	if err != nil {
		return "", err
	}
	if written == "" {
		return "", doc.at(0).invalid(`no "origin"`).WithHint(`hub.json holds {"origin": "https://hub.example.com"}`)
	}
	return written, nil
}

// origin returns the member origin in the form in which origins are compared, "" if it is absent.
func (d document) origin() (string, error) {
	written, err := d.field(memberOrigin)
	if err != nil || !written.Present() {
		return "", err
	}
	origin, err := hubclient.ParseOrigin(written.Text)
	if err != nil {
		return "", written.At.invalid("origin is %w", err)
	}
	return origin, nil
}

// FillHub writes the origin of the workspace's hub into hub.json, unless that exists, and
// reports whether it did. The failure is not_recorded.
func (w *Workspace) FillHub(origin string) (written bool, err error) {
	return w.recordHub(origin, true)
}

// SetHub makes the hub at origin the workspace's, and reports whether hub.json changed.
// The failure is not_recorded.
func (w *Workspace) SetHub(origin string) (changed bool, err error) {
	return w.recordHub(origin, false)
}

func (w *Workspace) recordHub(origin string, keep bool) (bool, error) {
	changed, err := w.update(HubFile, true, func(old []byte) ([]byte, error) {
		switch {
		case old == nil: // a new file names its schema for editors
			return jsonedit.Format(textMembers(origin, "hub.json", memberOrigin, origin)), nil
		case keep:
			return old, nil
		}
		doc, err := parse(HubFile, old)
		if err != nil {
			return nil, err
		}
		return setField(doc, memberOrigin, origin), nil
	})
	if err != nil {
		return false, notRecorded(err)
	}
	return changed, nil
}
