package wire

// The names of the events of a project, in a stream of text/event-stream.
const (
	EventConfig    = "config"     // its data is a ConfigEvent
	EventBaseFiles = "base-files" // its data is a BaseFilesEvent
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
