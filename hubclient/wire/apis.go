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
	Title     string    `json:"title"`
	Version   string    `json:"version"`
	Format    string    `json:"format"` // openapi-2.0, openapi-3.0 or openapi-3.1
	SHA256    string    `json:"sha256"` // of the document's bytes
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy"`
}

// APIs is a page of a list of APIs; NextCursor is "" on the last one.
type APIs struct {
	APIs       []API  `json:"apis"`
	NextCursor string `json:"nextCursor"`
}
