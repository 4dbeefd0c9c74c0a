package hubclient

import (
	"context"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Members returns the members of the org account.
func (c *Client) Members(ctx context.Context, account string) ([]wire.Member, error) {
	return readPages(ctx, c, wire.OpListMembers, account, func(p *wire.Members) ([]wire.Member, string) { return p.Members, p.NextCursor })
}

// SetMember gives the member user of the org account another role. The error is not_found
// if the user is no member, and last_admin if the org would have no admin left.
func (c *Client) SetMember(ctx context.Context, account, user string, role wire.Role) (*wire.Member, error) {
	r := to(wire.OpSetMember, ref.Ref{}, account, user)
	if err := r.jsonBody(wire.SetMember{Role: role}); err != nil {
		return nil, err
	}
	m, err := result[wire.Member](ctx, c, r)
	if err == nil && *m != (wire.Member{User: user, Role: role}) {
		return nil, c.notAHub(http.StatusOK, "it describes another member or role")
	}
	return m, err
}

// MemberRemoval is the outcome of RemoveMember.
type MemberRemoval struct {
	wire.RemovedMember
	Ambiguous bool // an attempt without a response may have removed the user
}

// RemoveMember removes user from the org account. It is not an error if the user is no
// member; it is last_admin if the org would have no admin left.
func (c *Client) RemoveMember(ctx context.Context, account, user string) (*MemberRemoval, error) {
	var m MemberRemoval
	a, err := c.send(ctx, to(wire.OpRemoveMember, ref.Ref{}, account, user), &m.RemovedMember)
	if err == nil && (m.Account != account || m.User != user) {
		return nil, c.notAHub(http.StatusOK, "it describes another member")
	}
	m.Ambiguous = err == nil && a.lost && !m.Existed
	return &m, err
}
