package store

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"
)

// States of a device.
const (
	DevicePending   = "pending"
	DeviceApproved  = "approved"  // the terminal has not fetched its token yet
	DeviceDenied    = "denied"    // by the user
	DeviceCancelled = "cancelled" // by the terminal
	DeviceDone      = "done"      // the terminal has its token
)

// Limits of device logins.
const (
	DeviceLife        = 10 * time.Minute
	DeviceEvery       = 2 * time.Second // the shortest time between two polls at first
	maxDevices        = 50              // of one address that wait at a time
	maxDevicesOverall = 5000
	maxStarts         = 500 // of one address within [DeviceLife]
	maxCodes          = 8   // wrong codes of a user within [DeviceLife]
)

// Device is a terminal that waits for a token.
type Device struct {
	bun.BaseModel `bun:"table:devices"`

	Hash      string `bun:",pk"` // SHA-256 of the secret that the terminal has
	Code      string // that the user compares
	Client    string // what the terminal calls itself
	Address   string
	State     string
	User      string `bun:"user_name"` // who approved or denied it
	Parent    string // hash of the token behind the approval; "": none
	Scopes    string // of the token, separated by spaces
	EndsAt    Time   // when the token expires; 0: never
	Token     string // hash of the token that was fetched
	Every     int64  // microseconds between two polls, and
	PolledAt  Time   // the last one: for hubs of a former release
	CreatedAt Time
	ExpiresAt Time

	Expired bool `bun:",scanonly"` // as [View.Device] found it
}

// CreateDevice stores a terminal that waits from now on. Hash, Code, Client and Address
// are the caller's. ErrTooMany if too many wait; ErrExists if the code is in use.
func (tx *Tx) CreateDevice(ctx context.Context, d *Device) error {
	if err := tx.ChangeRights(ctx, "devices of "+d.Address); err != nil { // so that the count is exact
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.db.NewDelete().Model((*Device)(nil)).Where("expires_at <= ?", now.add(-DeviceLife)).Exec(ctx); err != nil {
		return err
	}
	if err := tx.limitDevices(ctx, d.Address, now); err != nil {
		return err
	}
	d.State, d.Every, d.CreatedAt, d.ExpiresAt = DevicePending, DeviceEvery.Microseconds(), now, now.add(DeviceLife)
	_, err = tx.db.NewInsert().Model(d).Exec(ctx)
	return err
}

// limitDevices returns ErrTooMany if too many devices wait, or an address has started too
// many: a device that is cancelled makes room for another one, but stays stored.
func (tx *Tx) limitDevices(ctx context.Context, address string, now Time) error {
	started := func() *bun.SelectQuery {
		return tx.db.NewSelect().Model((*Device)(nil)).Where("expires_at > ?", now)
	}
	for _, of := range []struct {
		most int64
		q    *bun.SelectQuery
	}{
		{maxStarts, started().Where("address = ?", address)},
		{maxDevices, started().Where("address = ?", address).Where("state = ?", DevicePending)},
		{maxDevicesOverall, started().Where("state = ?", DevicePending)},
	} {
		n, err := of.q.Count(ctx)
		if err != nil {
			return err
		}
		if n >= of.most {
			return ErrTooMany
		}
	}
	return nil
}

// denyDevices denies a token to the terminals that a user has approved, also to those
// that had one and ask again, and returns how many there were.
func (tx *Tx) denyDevices(ctx context.Context, user string) (int, error) {
	return affected(tx.db.NewUpdate().Model((*Device)(nil)).Set("state = ?", DeviceDenied).Where("user_name = ?", user).
		Where("state IN (?, ?)", DeviceApproved, DeviceDone).Exec(ctx))
}

// LockDevice is [View.Device] for a device that SaveDevice changes.
func (tx *Tx) LockDevice(ctx context.Context, hash string) (*Device, error) {
	d := &Device{Hash: hash}
	return d, wrap(tx.forUpdate(tx.db.NewSelect().Model(d).WherePK()).Scan(ctx))
}

// SaveDevice stores the state, and the token, of a device that LockDevice returned.
func (tx *Tx) SaveDevice(ctx context.Context, d *Device) error {
	_, err := tx.db.NewUpdate().Model(d).Column("state", "token").WherePK().Exec(ctx)
	return err
}

// DecideDevice stores what a user decided about the device that waits with d.Code: its
// state, and for an approval the rights of the token. It reports whether the device
// waited: of any decisions about one device, one counts.
func (tx *Tx) DecideDevice(ctx context.Context, d *Device) (bool, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return false, err
	}
	n, err := affected(tx.db.NewUpdate().Model(d).Column("state", "user_name", "parent", "scopes", "ends_at").
		Where("code = ?", d.Code).Where("state = ?", DevicePending).Where("expires_at > ?", now).Exec(ctx))
	return n > 0, err
}

// codesOf is how many wrong codes a user has typed.
type codesOf struct {
	bun.BaseModel `bun:"table:device_attempts"`

	User  string `bun:"user_name,pk"`
	Since Time
	Wrong int
}

// FindDevice returns the device that waits with a code that user has typed. ErrNotFound
// if there is none, which counts as a wrong code; ErrTooMany after too many of those. The
// caller commits the transaction in any case.
func (tx *Tx) FindDevice(ctx context.Context, user, code string) (*Device, error) {
	if err := tx.ChangeRights(ctx, "codes of "+user); err != nil { // so that the count is exact
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	typed := &codesOf{User: user}
	if err := wrap(tx.db.NewSelect().Model(typed).WherePK().Scan(ctx)); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if typed.Since <= now.add(-DeviceLife) {
		typed.Since, typed.Wrong = now, 0
	}
	if typed.Wrong >= maxCodes {
		return nil, ErrTooMany
	}
	d := &Device{}
	err = wrap(tx.db.NewSelect().Model(d).Where("code = ?", code).Where("state = ?", DevicePending).Where("expires_at > ?", now).Scan(ctx))
	if !errors.Is(err, ErrNotFound) {
		return d, err
	}
	typed.Wrong++
	_, err = tx.db.NewInsert().Model(typed).On("CONFLICT (user_name) DO UPDATE").
		Set("since = EXCLUDED.since").Set("wrong = EXCLUDED.wrong").Exec(ctx)
	if err != nil {
		return nil, err
	}
	return nil, ErrNotFound
}

// Device returns the device with this hash, or ErrNotFound.
func (v *View) Device(ctx context.Context, hash string) (*Device, error) {
	d := &Device{Hash: hash}
	return d, wrap(v.db.NewSelect().Model(d).ColumnExpr("?TableColumns").ColumnExpr("expires_at <= ? AS expired", v.nowExpr()).WherePK().Scan(ctx))
}
