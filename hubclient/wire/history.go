package wire

import "time"

// ConfigHistory is a page of the history of a config, newest entry first; NextCursor is
// "" on the last one.
type ConfigHistory struct {
	Entries    []ConfigEntry `json:"entries"`
	NextCursor string        `json:"nextCursor"`
}

// ConfigEntry is a write that changed a config.
type ConfigEntry struct {
	Edit
	Number    int64  `json:"number"`    // counts the writes of a project, of its config and its base files
	Parent    string `json:"parent"`    // the revision that it replaced, "": it was the first write
	TokenName string `json:"tokenName"` // "": not known
	RequestID string `json:"requestId"` // "": not known
	Push      string `json:"push"`      // the same in the config and the base files of one push; "": not known
	Message   string `json:"message,omitzero"`
	Added     int    `json:"added"` // keys
	Changed   int    `json:"changed"`
	Removed   int    `json:"removed"`
}

// BaseFilesHistory lists the sets of base files that a project has and had, newest first.
type BaseFilesHistory struct {
	Entries []BaseFilesEntry `json:"entries"`
}

// BaseFilesEntry is a write that replaced a set of base files.
type BaseFilesEntry struct {
	BaseFilesSum
	Number     int64     `json:"number"` // as in ConfigEntry
	Parent     string    `json:"parent"` // the digest of the set that it replaced, "": there was none, or it is not known
	UpdatedAt  time.Time `json:"updatedAt"`
	UpdatedBy  string    `json:"updatedBy"`
	UpdatedVia Via       `json:"updatedVia,omitzero"` // "": not known
	TokenName  string    `json:"tokenName"`           // "": not known
	RequestID  string    `json:"requestId"`           // "": not known
	Push       string    `json:"push"`                // as in ConfigEntry
	Message    string    `json:"message,omitzero"`
	Added      int       `json:"added"` // files
	Changed    int       `json:"changed"`
	Removed    int       `json:"removed"`
}

// Edit says who wrote the set, when and how.
func (e BaseFilesEntry) Edit() Edit {
	return Edit{Revision: e.Tree, UpdatedAt: e.UpdatedAt, UpdatedBy: e.UpdatedBy, UpdatedVia: e.UpdatedVia}
}

// ConfigEntry returns e in the form of an entry about a config, with the digest as the revision.
func (e BaseFilesEntry) ConfigEntry() ConfigEntry {
	return ConfigEntry{
		Edit: e.Edit(), Number: e.Number, Parent: e.Parent, TokenName: e.TokenName, RequestID: e.RequestID, Push: e.Push,
		Message: e.Message, Added: e.Added, Changed: e.Changed, Removed: e.Removed,
	}
}

// RestoreConfig is the body of POST …/config/restore.
type RestoreConfig struct {
	Revision string `json:"revision"`
}

// RestoreBaseFiles is the body of POST …/preview/base-files/restore.
type RestoreBaseFiles struct {
	Tree string `json:"tree"` // the digest of a set in the history
}
