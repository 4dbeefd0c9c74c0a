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
	text, place := c.doc.Text(), c.doc.name
	i := pat.Index(text)
	if i >= 0 {
		place = c.doc.at(i).String()
	} else {
		text = config.Canonical()
		i = pat.Index(text)
	}
	if i < 0 {
		return nil
	}
	return failure.New(failure.CodeTokenInFile, "%s: an access token stands here (%s…)", place, pat.Shown(string(text[i:i+pat.Length]))).
		WithHint("remove it from the file, and revoke it: everyone who can read the file can use it")
}
