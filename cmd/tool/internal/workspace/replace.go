package workspace

import "bytes"

// Each calls f with each file that the edits change, and what it has before and after them.
func (edits Edits) Each(f func(name string, before, after []byte) error) error {
	for _, e := range edits {
		if before := e.doc.Text(); !bytes.Equal(before, e.text) {
			if err := f(e.doc.name, before, e.text); err != nil {
				return err
			}
		}
	}
	return nil
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
