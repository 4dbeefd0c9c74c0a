package wire

import "time"

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
