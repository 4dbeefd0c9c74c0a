package wire

import "time"

// CreateLink is the body of POST /v1/links.
type CreateLink struct {
	Page string `json:"page,omitzero"` // the path to open, such as /@acme/web; by default /
}

// CreateInvitation is the body of POST /v1/invitations.
type CreateInvitation struct {
	Account string `json:"account"` // an org
	Role    Role   `json:"role"`
}

// Link is a link that works once, in a browser.
type Link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}
