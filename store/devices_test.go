package store_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"example.com/projecthub/store"
)

func (p *people) device(address string, i int) error {
	return p.Write(p.Context(), func(tx *store.Tx) error {
		return tx.CreateDevice(&store.Device{Hash: address + fmt.Sprint(i), Code: address + fmt.Sprint(i), Address: address})
	})
}

func TestCreateDevice_LimitedByNetworkAndSite(t *testing.T) {
	eachPeople(t, func(p *people) {
		fill := func(want int, address func(i int) string) {
			p.Helper()
			for i := range 300 {
				err := p.device(address(i), i)
				if errors.Is(err, store.ErrTooMany) && i == want {
					return
				}
				if err != nil {
					p.Fatal(i, err)
				}
			}
			p.Errorf("there is no limit at %d", want)
		}
		fill(50, func(i int) string { return "192.0.2.1" })
		fill(50, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) }) // one /56
		fill(150, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", 0x200+i*0x100) })
		err := errors.Join(p.device("192.0.2.2", 1), p.device("2001:db8:2::1", 1), p.device("::ffff:192.0.2.3", 1))
		if err != nil {
			p.Error(err)
		}
		if err := p.device("::ffff:192.0.2.1", 1); !errors.Is(err, store.ErrTooMany) {
			p.Error(err)
		}
		if err := p.device("2001:db8:2::1", 1); !errors.Is(err, store.ErrExists) {
			p.Error(err)
		}
		p.sql("UPDATE devices SET state = 'denied' WHERE address = '192.0.2.1'")
		if err := p.device("192.0.2.1", 100); err != nil {
			p.Error(err)
		}
	})
}

// Strangers do not keep others from logging in.
func TestCreateDevice_DropsTheOldestOfTheBusiestSite(t *testing.T) {
	eachPeople(t, func(p *people) {
		if err := errors.Join(p.device("192.0.2.1", 1), p.device("2001:db8::1", 1), p.device("2001:db8::1", 2)); err != nil {
			p.Fatal(err)
		}
		p.sql(`WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
			INSERT INTO devices SELECT 'x' || i, 'x' || i, '', '', 'n' || i,
			CASE WHEN i < 6 THEN 'busy' ELSE 's' || i END, state, user_id, parent_id, token_id,
			scopes, ends_at, created_at, expires_at FROM devices, n WHERE hash = '192.0.2.11'`)
		p.sql("UPDATE devices SET created_at = created_at - 1 WHERE site = 'busy' AND hash = 'x5'")
		p.sql("UPDATE devices SET site = 'busy' WHERE hash = 'x6'")
		if err := p.device("198.51.100.1", 1); err != nil {
			p.Fatal(err)
		}
		if n := p.count("devices"); n != 5000 || p.count("devices WHERE hash = 'x5'") != 0 {
			p.Errorf("%d wait", n)
		}
	})
}

func TestDevice_OneDecisionCountsAndWrongCodesEnd(t *testing.T) {
	eachPeople(t, func(p *people) {
		if err := p.device("192.0.2.1", 1); err != nil {
			p.Fatal(err)
		}
		var decided atomic.Int32
		users := []string{"anna", "rita", "alice", "sam"}
		p.atOnce(8, func(s *store.Store, i int) {
			var ok bool
			err := s.Write(p.Context(), func(tx *store.Tx) (err error) {
				d, err := tx.FindDevice(p.ids[users[i%4]], "192.0.2.11")
				if errors.Is(err, store.ErrNotFound) {
					return nil
				}
				if err != nil {
					return err
				}
				d.State, d.UserID = store.DeviceApproved, p.ids[users[i%4]]
				ok, err = tx.DecideDevice(d)
				return err
			})
			if err != nil {
				p.Error(err)
			}
			if ok {
				decided.Add(1)
			}
		})
		if decided.Load() != 1 {
			p.Errorf("%d decisions", decided.Load())
		}
		p.sql("UPDATE accounts SET wrong_codes = 0")
		var refused error
		find := func(tx *store.Tx) error { _, refused = tx.FindDevice(p.ids["alice"], "none"); return nil }
		for range 8 {
			if p.must(find); !errors.Is(refused, store.ErrNotFound) {
				p.Error(refused)
			}
		}
		if p.must(find); !errors.Is(refused, store.ErrTooMany) {
			p.Error(refused)
		}
		p.sql("UPDATE accounts SET wrong_since = wrong_since - 600000000")
		if p.must(find); !errors.Is(refused, store.ErrNotFound) {
			p.Error(refused)
		}
	})
}

func TestDevice_ShowsWhatIsBehindIt(t *testing.T) {
	eachPeople(t, func(p *people) {
		if err := p.device("192.0.2.1", 1); err != nil {
			p.Fatal(err)
		}
		hash := "192.0.2.11"
		token := p.token(1, store.Token{})
		p.must(func(tx *store.Tx) error {
			d := &store.Device{Hash: hash, State: store.DeviceApproved, UserID: p.ids["alice"], Scopes: "write:config"}
			if ok, err := tx.DecideDevice(d); !ok || err != nil {
				p.Error(ok, err)
			}
			d, err := tx.LockDevice(hash)
			if err != nil || d.User != "alice" || d.State != store.DeviceApproved || d.Disabled || d.Expired {
				p.Errorf("%+v, %v", d, err)
			}
			return tx.SaveDevice(d, token.ID)
		})
		p.must(func(tx *store.Tx) error { _, err := tx.SetDisabled("alice", true); return err })
		p.sql("UPDATE devices SET expires_at = 1")
		d, err := p.view().Device(hash)
		if err != nil || d.TokenHash != token.Hash || d.State != store.DeviceDone || !d.Disabled || !d.Expired {
			p.Errorf("%+v, %v", d, err)
		}
	})
}
