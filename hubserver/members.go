package hubserver

import (
	"errors"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// Members join by an invitation, so that nobody learns here which users exist.

// listMembers lists the members of an org, in pages.
func (s *Server) listMembers(c *call) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	limit, err := pageLimit(q)
	if err != nil {
		return err
	}
	account, after := c.accountOf(wire.InQuery), q.Get("cursor")
	if after != "" && !ref.ValidName(after) {
		return invalidBody("", "invalid cursor: send the nextCursor of a page")
	}
	rows, err := lookUp(c, func(v *store.View) ([]store.Member, error) { return v.Members(c.ctx(), account, after, limit+1) })
	if kind, ok := errors.AsType[*store.KindError](err); ok { // a user's own account
		return invalidBody("", "%v", kind)
	}
	if err != nil {
		return err
	}
	answer := wire.Members{Account: account, Members: []wire.Member{}}
	if len(rows) > limit {
		rows = rows[:limit]
		answer.NextCursor = rows[limit-1].User
	}
	for _, m := range rows {
		answer.Members = append(answer.Members, wire.Member{User: m.User, Role: wire.Role(m.Role)})
	}
	return c.json(http.StatusOK, answer)
}

// member returns the org and the user that the path names.
func (c *call) member() (org, user string) {
	return c.params.ByName("account"), c.params.ByName("user")
}

// setMember gives a member another role.
func (s *Server) setMember(c *call) error {
	var req wire.SetMember
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	if rank(req.Role) <= 0 {
		return invalidBody("/role", "the role is reader, writer or admin")
	}
	if err := c.needUnrestricted("cannot change roles"); err != nil {
		return err
	}
	org, user := c.member()
	c.changesRights = []string{user}
	err := c.transact(c.ctx(), func(tx *store.Tx) error {
		has, err := tx.RoleOf(c.ctx(), user, org)
		if err != nil || has == string(req.Role) {
			return err
		}
		if has == "" {
			return noMember(org, user, req.Role)
		}
		if err := c.keepAdmin(tx, org, user, wire.Role(has)); err != nil {
			return err
		}
		if err := tx.SetMember(c.ctx(), org, user, string(req.Role)); err != nil {
			return err
		}
		return c.audit(c.ctx(), tx, org, "member.set", user, string(req.Role))
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, wire.Member{User: user, Role: req.Role})
}

func noMember(org, user string, role wire.Role) *problem {
	return notFound("member "+user+" of "+org).hint("people join by an invitation: tool member invite %s --role %s", org, role)
}

// removeMember removes a user from an org. It is not a failure if the user is no member.
func (s *Server) removeMember(c *call) error {
	org, user := c.member()
	answer := wire.RemovedMember{Account: org, User: user}
	c.changesRights = []string{user}
	err := c.transact(c.ctx(), func(tx *store.Tx) error {
		answer.Existed = false
		has, err := tx.RoleOf(c.ctx(), user, org)
		if err != nil || has == "" {
			return err
		}
		if err := c.keepAdmin(tx, org, user, wire.Role(has)); err != nil {
			return err
		}
		if answer.Existed, err = tx.RemoveMember(c.ctx(), org, user); err != nil {
			return err
		}
		return c.audit(c.ctx(), tx, org, "member.remove", user, "")
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, answer)
}

// keepAdmin refuses to take the role admin from the last one who has it.
func (c *call) keepAdmin(tx *store.Tx, org, user string, has wire.Role) error {
	if has != wire.Admin {
		return nil
	}
	err := tx.KeepAdmin(c.ctx(), org, user)
	if errors.Is(err, store.ErrLastAdmin) {
		return problemf(http.StatusConflict, wire.CodeLastAdmin, "%s is the last admin of %s", user, org).
			hint("make another member admin first: tool member set %s USER --role admin", org)
	}
	return err
}
