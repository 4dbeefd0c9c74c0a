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

// UploadType is the media type of a push that uploads only missing blobs: a list of zstd frames, each
// after its length as an unsigned varint. The first one is the list of files in canonical form, or
// with ?base= a patch of the list with that digest; the others are files, in any order.
const UploadType = "application/vnd.hub.base-files"

// PlanBaseFiles asks which blobs a push has to upload. Without digests it asks whether the project has
// the tree.
type PlanBaseFiles struct {
	Tree    string   `json:"tree"`
	Digests []string `json:"digests,omitzero"`
}

// PlannedBaseFiles is the response to PlanBaseFiles.
type PlannedBaseFiles struct {
	Current   string   `json:"current,omitzero"` // digest of the stored set, "": none
	Unchanged bool     `json:"unchanged"`        // it is the tree, and none of the digests is missing
	Missing   []string `json:"missing"`          // those of the digests that are not stored
}

// Description is the part of a hub's OpenAPI description that a client needs.
type Description struct {
	Info struct {
		Limits Limits `json:"x-limits"`
	} `json:"info"`
}

// Limits bound what a hub accepts in a push; 0 means no limit. Sizes are bytes.
type Limits struct {
	ConfigBytes    int64 `json:"configBytes"`
	ConfigKeys     int   `json:"configKeys"`
	ConfigDepth    int   `json:"configDepth"`
	BaseFiles      int   `json:"baseFiles"`
	BaseFileBytes  int64 `json:"baseFileBytes"`
	BaseFilesBytes int64 `json:"baseFilesBytes"`
}
