package hubserver_test

import (
	"net/url"
	"slices"
	"sync"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

const memberPath = "/v1/members"

func TestMembers_ListSetRemove(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		anna, rita := hub.as("anna"), hub.as("rita")
		var names []string
		for cursor := ""; ; {
			page := decoded[wire.Members](rita.get(memberPath + "?account=acme&limit=1" + cursor).want(200))
			for _, m := range page.Members {
				names = append(names, m.User+" "+string(m.Role))
			}
			if page.NextCursor == "" {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
		}
		if want := []string{"alice writer", "anna admin", "rita reader"}; !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
		rita.get(memberPath+"?account=acme&cursor=X").problem(422, wire.CodeInvalidBody)
		rita.get(memberPath).problem(422, wire.CodeInvalidBody) // rita's own account has no members
		hub.as("sam").get(memberPath+"?account=acme").problem(403, wire.CodeNotPermitted)

		anna.put(memberPath+"/acme/rita", `{"role": "writer"}`).want(200)
		anna.put(memberPath+"/acme/rita", `{"role": "writer"}`).want(200)
		anna.put(memberPath+"/acme/rita", `{"role": "owner"}`).problem(422, wire.CodeInvalidBody)
		for _, user := range []string{"sam", "nobody"} { // whether the user exists makes no difference
			anna.put(memberPath+"/acme/"+user, `{"role": "reader"}`).problem(404, wire.CodeNotFound)
		}
		hub.as("alice").put(memberPath+"/acme/rita", `{"role": "reader"}`).problem(403, wire.CodeNotPermitted)
		hub.as("alice").delete(memberPath+"/acme/rita").problem(403, wire.CodeNotPermitted)
		if got := decoded[wire.RemovedMember](anna.delete(memberPath + "/acme/rita").want(200)); !got.Existed {
			t.Errorf("%+v", got)
		}
		if got := decoded[wire.RemovedMember](anna.delete(memberPath + "/acme/rita").want(200)); got.Existed {
			t.Errorf("%+v", got)
		}
		rita.get(memberPath+"?account=acme").problem(403, wire.CodeNotPermitted)
		hub.as("alice").delete(memberPath + "/acme/alice").want(200) // one may leave
		if n := hub.count("SELECT count(*) FROM audit WHERE action IN ('member.set', 'member.remove')"); n != 3 {
			t.Errorf("%d rows of the audit", n)
		}
	})
}

func TestMembers_LastAdminStays(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		anna := hub.as("anna")
		anna.delete(memberPath+"/acme/anna").problem(409, wire.CodeLastAdmin)
		anna.put(memberPath+"/acme/anna", `{"role": "reader"}`).problem(409, wire.CodeLastAdmin)
		anna.put(memberPath+"/acme/anna", `{"role": "admin"}`).want(200)
		anna.put(memberPath+"/acme/alice", `{"role": "admin"}`).want(200)
		hub.disable("alice")
		anna.delete(memberPath+"/acme/anna").problem(409, wire.CodeLastAdmin) // alice can do nothing
		anna.delete(memberPath + "/acme/alice").want(200)
	})
}

// Of two admins who remove each other, or leave, at one time, one stays.
func TestMembers_OneAdminStaysOfTwoThatGoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		anna, alice := hub.as("anna"), hub.as("alice")
		for _, paths := range [][2]string{{"alice", "anna"}, {"anna", "alice"}} {
			hub.write(func(tx *store.Tx) error {
				if err := tx.SetMember("acme", "anna", "admin"); err != nil {
					return err
				}
				return tx.SetMember("acme", "alice", "admin")
			})
			var all sync.WaitGroup
			for i, c := range []*caller{anna, alice} {
				all.Go(func() {
					if a, err := c.try("DELETE", memberPath+"/acme/"+paths[i], nil); err != nil || a.status >= 500 {
						t.Errorf("%v %+v", err, a)
					}
				})
			}
			all.Wait()
			if n := hub.count("SELECT count(*) FROM members WHERE role = 'admin'"); n != 1 {
				t.Errorf("%d admins", n)
			}
		}
	})
}
