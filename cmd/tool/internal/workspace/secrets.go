package workspace

import (
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
)

// CheckSecrets refuses a client.json that holds an access token, escaped or not:
// what is in it goes to the hub. config is what the file's settings fold to. The
// failure is token_in_file.
func (c *Client) CheckSecrets(config flat.Config) error {
	doc := c.doc
	if c.env != nil && pat.Index(doc.Text()) < 0 {
		doc = c.env.doc
	}
	text, place := doc.Text(), doc.name
	i := pat.Index(text)
	if i >= 0 {
		place = doc.at(i).String()
	} else {
		text = config.Canonical()
		i = pat.Index(text)
	}
	if i < 0 {
		return nil
	}
	return failure.New(failure.CodeTokenInFile, "%s: an access token is written here (%s…)", place, pat.Shown(string(text[i:i+pat.Length]))).
		WithHint("remove it from the file, and revoke it: everyone who can read the file can use it")
}
