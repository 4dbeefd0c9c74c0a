package wire

import (
	"time"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// BaseFiles lists the base files of a project.
type BaseFiles struct {
	BaseFilesSum
	UpdatedAt time.Time    `json:"updatedAt"`
	UpdatedBy string       `json:"updatedBy"`
	Files     []tree.Entry `json:"files"`
}

// Manifest names a set of base files: by its digest alone, by all of its files, or by
// the difference from a base that both sides know.
type Manifest struct {
	Tree   string       `json:"tree"`
	Files  []tree.Entry `json:"files,omitzero"` // all of the set; null: not given
	Base   string       `json:"base,omitzero"`  // digest of the set that put and remove start from
	Put    []tree.Entry `json:"put,omitzero"`
	Remove []string     `json:"remove,omitzero"`
}

// Plan is the response to a manifest: which blobs a push of it has to upload.
type Plan struct {
	Current    string   `json:"current,omitzero"` // digest of the stored set, "": none
	Unchanged  bool     `json:"unchanged"`        // it is that of the manifest
	NeedFull   bool     `json:"needFull"`         // the manifest has to list all files
	AllMissing bool     `json:"allMissing"`       // with NeedFull: the account has no blobs, so no other plan is needed
	Missing    []string `json:"missing"`          // digests of the blobs that the account lacks
}

// The media type of a push that uploads only missing blobs, and the members of its tar.
const (
	BaseFilesType  = "application/vnd.hub.base-files+tar"
	ManifestMember = "manifest.json"
	ContentMembers = "blobs/" // before the digest of a blob
)

// BaseFilesWritten is the response to a push of base files.
type BaseFilesWritten struct {
	Project         ref.Ref `json:"project"`
	Tree            string  `json:"tree"`
	BaseFilesPushed int     `json:"baseFilesPushed"` // files in the set
	Added           int     `json:"added"`
	Changed         int     `json:"changed"`
	Removed         int     `json:"removed"`
	Uploaded        int     `json:"uploaded"`      // blobs that this request uploaded
	BytesReceived   int64   `json:"bytesReceived"` // of the body, as received
}
