package wire

// SetMember is the body of the request for another role of a member.
type SetMember struct {
	Role Role `json:"role"`
}

// Member is a user with a role on an org.
type Member struct {
	User string `json:"user"`
	Role Role   `json:"role"`
}

// Members is a page of the members of an org, sorted by their names.
type Members struct {
	Account    string   `json:"account"`
	Members    []Member `json:"members"`
	NextCursor string   `json:"nextCursor"` // "": the last page
}

// RemovedMember is the response to the removal of a member. Existed is false if the user
// was none.
type RemovedMember struct {
	Account string `json:"account"`
	User    string `json:"user"`
	Existed bool   `json:"existed"`
}
