package wire

import (
	"time"

	"example.com/projecthub/hubclient/ref"
)

// ImportAPI is the body of POST /v1/apis/import.
type ImportAPI struct {
	Account string `json:"account,omitzero"`
	Slug    string `json:"slug,omitzero"`
	URL     string `json:"url"`
}

// API is a registered API description.
type API struct {
	API       ref.Ref   `json:"api"`
	Title     string    `json:"title"`   // of the description, or the name of its file
	Version   string    `json:"version"` // "" when the description has none
	Format    string    `json:"format"`  // openapi-2.0, openapi-3.0, openapi-3.1 or openapi-3.2
	SHA256    string    `json:"sha256"`  // of the document's bytes
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"` // of the description; absent: never
	UpdatedBy string    `json:"updatedBy,omitzero"`
}

// DeletedAPI is the response to the deletion of an API. Existed is false if there was none.
type DeletedAPI struct {
	API     ref.Ref `json:"api"`
	Existed bool    `json:"existed"`
}

// APIs is a page of a list of APIs; NextCursor is "" on the last one.
type APIs struct {
	APIs       []API  `json:"apis"`
	NextCursor string `json:"nextCursor"`
}

// Targets are the parts of an API that enrichments can refer to.
type Targets struct {
	Operations []TargetOperation `json:"operations"`
	Schemas    []TargetSchema    `json:"schemas"`
	Complete   bool              `json:"complete"` // there are no others
}

// TargetOperation is an operation of an API.
type TargetOperation struct {
	OperationID string `json:"operationId"` // "": it has none
	Method      string `json:"method"`      // in capital letters
	Path        string `json:"path"`
}

// TargetSchema is a named schema of an API.
type TargetSchema struct {
	Name       string   `json:"name"`
	Pointer    string   `json:"pointer"` // JSON pointer into the description, with #
	Properties []string `json:"properties"`
}

// Stack is a stack with its published versions, newest first.
type Stack struct {
	Stack     string         `json:"stack"`  // account/slug
	Latest    string         `json:"latest"` // highest release that is not withdrawn, else highest pre-release
	Versions  []StackVersion `json:"versions"`
	Followers *int           `json:"followers,omitzero"` // projects on latest, at most MostFollowers; for writers
}

// StackVersion is one published, immutable version of a stack.
type StackVersion struct {
	Stack       string    `json:"stack"`
	Version     string    `json:"version"`
	Digest      string    `json:"digest"` // of the bundle's tree
	SizeBytes   int64     `json:"sizeBytes"`
	FileCount   int       `json:"fileCount"`
	PublishedAt time.Time `json:"publishedAt"`
	PublishedBy string    `json:"publishedBy"`
	WithdrawnAt time.Time `json:"withdrawnAt,omitzero"` // zero: it was not withdrawn
}

// Published is the response to the publishing of a version.
type Published struct {
	StackVersion
	FirstVersion bool `json:"firstVersion"` // it created the stack
}

// MostFollowers is how many followers of a stack the hub counts.
const MostFollowers = 1000
