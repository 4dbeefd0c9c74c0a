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
