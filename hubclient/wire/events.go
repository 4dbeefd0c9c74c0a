package wire

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
