package wire

import (
	"time"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// BaseFiles is the set of base files that a project holds now.
type BaseFiles struct {
	BaseFilesSum
	UpdatedAt time.Time    `json:"updatedAt"`
	UpdatedBy string       `json:"updatedBy"`
	Files     []tree.Entry `json:"files"`
}

// Manifest names a set of base files: by its digest alone, by all of its files,
// or by what leads to it from a base that both sides know.
type Manifest struct {
	Tree   string       `json:"tree"`
	Files  []tree.Entry `json:"files,omitzero"` // all of the set; null: not given
	Base   string       `json:"base,omitzero"`  // digest of the set that put and remove start from
	Put    []tree.Entry `json:"put,omitzero"`
	Remove []string     `json:"remove,omitzero"`
}

// Plan answers what a push of a manifest would have to bring.
type Plan struct {
	Current    string   `json:"current,omitzero"` // digest of the set that is there, "": none
	Unchanged  bool     `json:"unchanged"`        // it is the manifest's
	NeedFull   bool     `json:"needFull"`         // the manifest has to list all files
	AllMissing bool     `json:"allMissing"`       // with NeedFull: the account has no contents, so no other plan would tell more
	Missing    []string `json:"missing"`          // digests of the contents that the account lacks
}

// The media type of a push that brings missing contents alone, and the members
// of its tar.
const (
	BaseFilesType  = "application/vnd.hub.base-files+tar"
	ManifestMember = "manifest.json"
	ContentMembers = "blobs/" // before a content's digest
)

// BaseFilesWritten answers a push of base files.
type BaseFilesWritten struct {
	Project         ref.Ref `json:"project"`
	Tree            string  `json:"tree"`
	BaseFilesPushed int     `json:"baseFilesPushed"` // files in the set
	Added           int     `json:"added"`
	Changed         int     `json:"changed"`
	Removed         int     `json:"removed"`
	Uploaded        int     `json:"uploaded"`      // contents that this request brought
	BytesReceived   int64   `json:"bytesReceived"` // of the body, as it came
}
