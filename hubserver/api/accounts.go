package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

func whoami(c *request.Call) error {
	all, err := Accounts(c)
	if err != nil {
		return err
	}
	only := c.Access.Only
	me := wire.Whoami{
		TokenName: c.Access.TokenName, Scopes: c.Scopes(), Accounts: all,
		ExpiresAt: orNever(c.Access.ExpiresAt), Restriction: toRestriction(only),
	}
	if only.ResourceID != 0 {
		a, err := c.AccessTo(store.AccessQuery{Account: only.Account, Kind: store.KindProject, Slug: only.Slug})
		if err != nil {
			return err
		}
		me.Projects = []wire.ProjectRole{{Project: refOf(only.Account, only.Slug), Role: wire.Role(a.Role)}}
	}
	if c.Access.IsBot() {
		me.Bot = c.Access.BotRefID
	} else {
		me.User = c.Access.Account
	}
	return c.JSON(http.StatusOK, me)
}

// Accounts returns the accounts on which the caller has a role, ordered by name. For a restricted token or session
// it is only its account, or none if it is restricted to a project.
func Accounts(c *request.Call) ([]wire.AccountRole, error) {
	if c.Access.IsBot() {
		return []wire.AccountRole{{Account: c.Access.Account, Role: wire.Writer}}, nil
	}
	all := []wire.AccountRole{{Account: c.Access.Account, Role: wire.Admin}}
	members, err := c.View().MembershipsOf(c.Access.Caller.AccountID)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		all = append(all, wire.AccountRole{Account: m.Account, Role: wire.Role(m.Role)})
	}
	if only := c.Access.Only; only.AccountID != 0 {
		all = slices.DeleteFunc(all, func(a wire.AccountRole) bool {
			return only.ResourceID != 0 || a.Account != only.Account
		})
	}
	slices.SortFunc(all, func(a, b wire.AccountRole) int { return strings.Compare(a.Account, b.Account) })
	return all, nil
}

// accountsWith returns the names of the accounts on which the caller has at least the needed role.
func accountsWith(c *request.Call, needed wire.Role) (names []string, err error) {
	all, err := Accounts(c)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if atLeast(string(a.Role), needed) {
			names = append(names, a.Account)
		}
	}
	return names, nil
}

func listMembers(c *request.Call, page pageQuery) error {
	if page.cursor != "" && !ref.ValidName(page.cursor) {
		return invalidCursor()
	}
	answer := wire.Members{Account: c.AccountInQuery()}
	members, err := c.View().Members(answer.Account, page.cursor, page.limit+1)
	if kind, ok := errors.AsType[*store.KindError](err); ok { // a user's own account
		return request.InvalidBody("", "%v", kind)
	}
	if err != nil {
		return err
	}
	show := func(m *store.Member) wire.Member { return wire.Member{User: m.User, Role: wire.Role(m.Role)} }
	answer.Members, answer.NextCursor = pageOf(members, page.limit, show, func(m *store.Member) string { return m.User })
	return c.JSON(http.StatusOK, answer)
}

// isRole reports whether a member can have the role.
func isRole(r wire.Role) bool { return store.Rank(string(r)) > 0 }

// setMember changes the role of a member. New members join by an invitation: to add a user by name would reveal
// which users exist.
func setMember(c *request.Call, req *wire.SetMember) error {
	if !isRole(req.Role) {
		return request.InvalidBody("/role", "the role is reader, writer or admin")
	}
	if err := c.NeedUnrestricted("cannot change roles"); err != nil {
		return err
	}
	org, user := c.Param("account"), c.Param("user")
	return c.Write(func(tx *store.Tx) (request.Done, error) {
		done := request.Done{}.With(http.StatusOK, wire.Member{User: user, Role: req.Role})
		has, err := tx.LockMember(org, user)
		switch {
		case err != nil || has == string(req.Role):
			return done, err
		case has == "":
			return done, request.NotFound("member "+user+" of "+org).
				WithHint("people join by an invitation: tool member invite %s --role %s", org, req.Role)
		}
		if err := keepAdmin(tx, org, user, has); err != nil {
			return done, err
		}
		done.Account, done.Action, done.Object, done.Detail = org, "member.set", user, string(req.Role)
		return done, tx.SetMember(org, user, string(req.Role))
	})
}

// removeMember removes a user from an org. It succeeds also if the user is no member.
func removeMember(c *request.Call) error {
	if err := c.NeedUnrestricted("removes no members"); err != nil {
		return err
	}
	org, user := c.Param("account"), c.Param("user")
	return c.Write(func(tx *store.Tx) (request.Done, error) {
		answer := wire.RemovedMember{Account: org, User: user}
		has, err := tx.LockMember(org, user)
		if err != nil || has == "" {
			return request.Done{}.With(http.StatusOK, answer), err
		}
		if err := keepAdmin(tx, org, user, has); err != nil {
			return request.Done{}, err
		}
		answer.Existed, err = tx.RemoveMember(org, user)
		done := request.Done{Account: org, Action: "member.remove", Object: user}
		return done.With(http.StatusOK, answer), err
	})
}

// keepAdmin returns a 409 if the user, whose role is has, is the only admin of the org.
func keepAdmin(tx *store.Tx, org, user, has string) error {
	if has != string(wire.Admin) {
		return nil
	}
	hasOther, err := tx.HasOtherAdmin(org, user)
	if err == nil && !hasOther {
		return request.Problemf(http.StatusConflict, wire.CodeLastAdmin, "%s is the last admin of %s", user, org).
			WithHint("make another member admin first: tool member set %s USER --role admin", org)
	}
	return err
}
