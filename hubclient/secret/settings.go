package secret

import (
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// maxFindings bounds how many credentials InSettings names.
const maxFindings = 20

// InSettings returns which settings of a config hold what looks like a credential, at most 20, with pointers into
// the settings. It never tells a value. canonical is the config's canonical form.
func InSettings(config flat.Config, canonical []byte) (found []wire.FieldError) {
	if _, any := Find(canonical); !any {
		return nil
	}
	for _, e := range flat.Diff(flat.Config{}, config).Added {
		credential, ok := Find([]byte(e.Text))
		if !ok || len(found) == maxFindings {
			continue
		}
		path, _ := flat.SplitKey(e.Key) // it is a key
		pointer := jsontext.Pointer("")
		for _, name := range path {
			pointer = pointer.AppendToken(name)
		}
		found = append(found, wire.FieldError{
			Pointer: string(pointer), Keyword: wire.KeywordCredential,
			Detail: "this looks like " + credential.What + ": everyone who can read the project can read it",
		})
	}
	return found
}
