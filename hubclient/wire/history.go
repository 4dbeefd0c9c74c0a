package wire

import "time"

// ConfigHistory is a page of the history of a config, newest first; NextCursor is "" on the last one.
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
	Keys      Names  `json:"keys"`
}

// Names are the first keys, or paths of files, that a write has changed, up to 4 KiB of them.
type Names struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
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
	Paths      Names     `json:"paths"`
}

// ConfigEntry returns e in the form of an entry about a config, with the digest as the revision.
func (e BaseFilesEntry) ConfigEntry() ConfigEntry {
	return ConfigEntry{
		Edit:   Edit{Revision: e.Tree, UpdatedAt: e.UpdatedAt, UpdatedBy: e.UpdatedBy, UpdatedVia: e.UpdatedVia},
		Number: e.Number, Parent: e.Parent, TokenName: e.TokenName, RequestID: e.RequestID, Push: e.Push,
		Message: e.Message, Added: e.Added, Changed: e.Changed, Removed: e.Removed, Keys: e.Paths,
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

// CreateDraft is the body of POST …/drafts: a change of a config that was not saved, to be shown to others.
type CreateDraft struct {
	Base string `json:"base"` // the revision of the config that it changes
	PatchConfig
}

// CreatedDraft is the response: callers who may read the project's history can read the draft with this ID.
type CreatedDraft struct {
	ID        string    `json:"id"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Draft is a change that was shared.
type Draft struct {
	CreateDraft
	CreatedBy string    `json:"createdBy"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// DeletedDraft is the response to the deletion of a draft. Existed is false if there was none.
type DeletedDraft struct {
	Existed bool `json:"existed"`
}

// The names of the events of a project, in a stream of text/event-stream.
const (
	EventConfig    = "config"     // its data is a ConfigEvent
	EventBaseFiles = "base-files" // its data is a BaseFilesEvent
	EventPresence  = "presence"   // its data is a Presence; for callers with a role on the account
)

// EventStream is the media type of that stream.
const EventStream = "text/event-stream"

// ConfigEvent says which config a project has now.
type ConfigEvent struct {
	Revision string `json:"revision"`
	By       string `json:"by"`  // "": it was never written
	Via      Via    `json:"via"` // "": it was never written
}

// BaseFilesEvent says which set of base files a project has now.
type BaseFilesEvent struct {
	Tree string `json:"tree"`
	By   string `json:"by"`
	Via  Via    `json:"via"` // "": not known
}

// PutPresence is the body of PUT …/presence, which a page sends again and again while it is open.
type PutPresence struct {
	Tab string `json:"tab"`          // a random name of the tab
	Key string `json:"key,omitzero"` // that is edited in it; "": none
}

// Presence says who has a project's page open, through one hub.
type Presence struct {
	People []Person `json:"people"`
}

// Person is a user who has a project's page open.
type Person struct {
	User string `json:"user"`
	Key  string `json:"key,omitzero"` // that is edited; "": none
}
