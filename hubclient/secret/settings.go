package secret

import (
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

const maxFindings = 20

// InSettings returns which settings of a config look like credentials, at most 20, with pointers into the settings
// and without their values. canonical is the config's canonical form.
func InSettings(config flat.Config, canonical []byte) (found []wire.FieldError) {
	if _, hasAny := Find(canonical); !hasAny {
		return nil
	}
	for _, e := range flat.Diff(flat.Config{}, config) {
		credential, ok := Find([]byte(e.To))
		if !ok || len(found) == maxFindings {
			continue
		}
		path, _ := flat.SplitKey(e.Key) // it does not fail for a key of a config
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
