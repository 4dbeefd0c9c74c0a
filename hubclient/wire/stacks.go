package wire

import "time"

// Stack is a stack with its published versions, newest first.
type Stack struct {
	Stack     string         `json:"stack"`  // account/slug
	Latest    string         `json:"latest"` // the highest release that is not withdrawn; a pre-release only if there is no release
	Versions  []StackVersion `json:"versions"`
	Followers *int           `json:"followers,omitzero"` // projects on latest, at most MostFollowers; for the account's writers
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
