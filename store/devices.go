package store

import (
	"cmp"
	"crypto/rand"
	"errors"
	"math/big"
	"net/netip"
	"strings"
	"time"

	"example.com/projecthub/store/sqldb"
)

// States of a device.
const (
	DevicePending  = "pending"
	DeviceApproved = "approved" // the terminal has not fetched its token yet
	DeviceDenied   = "denied"
	DeviceDone     = "done" // the terminal has its token
)

// Limits of device logins.
const (
	DeviceLife  = 10 * time.Minute
	DeviceEvery = 2 * time.Second // the shortest time between two polls

	maxOfNetwork = 50 // that wait at a time, see networks
	maxOfSite    = 200
	maxDevices   = 5000
	maxCodes     = 8 // wrong codes that a user may type within [DeviceLife]
)

// Device is a terminal that waits for a token (RFC 8628).
type Device struct {
	Hash      string // SHA-256 of the secret that the terminal has
	Code      string // that the user compares
	Client    string // what the terminal calls itself
	Address   string
	State     string
	UserID    int64  // who approved or denied it; 0: not decided
	User      string // name of that user
	ParentID  int64  // of the token behind the approval; 0: none
	TokenID   int64  // of the token that was fetched; 0: none
	TokenHash string
	Scopes    string // of the token, separated by spaces
	EndsAt    Time   // when the token expires; 0: never

	CreatedAt, ExpiresAt Time

	Expired  bool // when it was read
	Disabled bool // whether the user is
}

const selectDevices = `SELECT d.hash, d.code, d.client, d.address, d.state, COALESCE(d.user_id, 0),
	COALESCE(u.name, ''), COALESCE(d.parent_id, 0), COALESCE(d.token_id, 0), COALESCE(t.hash, ''),
	d.scopes, d.ends_at, d.created_at, d.expires_at, d.expires_at <= @now, COALESCE(u.disabled_at, 0) <> 0
	FROM devices d LEFT JOIN accounts u ON u.id = d.user_id LEFT JOIN tokens t ON t.id = d.token_id `

func deviceFields(d *Device) []any {
	return sqldb.Row(&d.Hash, &d.Code, &d.Client, &d.Address, &d.State, &d.UserID, &d.User, &d.ParentID, &d.TokenID,
		&d.TokenHash, &d.Scopes, &d.EndsAt, &d.CreatedAt, &d.ExpiresAt, &d.Expired, &d.Disabled)
}

// The code that a user compares: consonants only, so that it spells no word.
const (
	codeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	codeLength  = 8
)

// NewCode returns a random code, with a hyphen in the middle.
func NewCode() string {
	code := ""
	for len(code) < codeLength {
		i, _ := rand.Int(rand.Reader, big.NewInt(int64(len(codeLetters)))) // never fails
		code += string(codeLetters[i.Int64()])
	}
	return CleanCode(code)
}

// CleanCode returns a code as it is stored, in upper case and with its hyphen; "" if it is malformed.
func CleanCode(typed string) string {
	letters := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToUpper(typed))
	if len(letters) != codeLength || strings.Trim(letters, codeLetters) != "" {
		return ""
	}
	return letters[:codeLength/2] + "-" + letters[codeLength/2:]
}

// networks returns the network and the site of an address. For IPv6 they are its /56, which one customer of a provider
// has, and its /48, which an organisation has. For IPv4 both are the address.
func networks(address string) (network, site string) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address, address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String(), ip.String()
	}
	return netip.PrefixFrom(ip, 56).Masked().String(), netip.PrefixFrom(ip, 48).Masked().String()
}

// CreateDevice stores a terminal that waits from now on. The caller sets Hash, Code, Client and Address. ErrTooMany if
// too many of its network or its site wait, ErrExists if the code is in use.
//
// If too many wait in all, the oldest one of the busiest site is dropped, so that nobody can keep others from logging
// in. Of equally busy sites it is the one with the newest terminal, so that somebody with many sites displaces their
// own.
func (tx *Tx) CreateDevice(d *Device) error {
	now := tx.Now()
	if err := tx.exec("DELETE FROM devices WHERE expires_at <= ?", now.Add(-DeviceLife)); err != nil {
		return err
	}
	network, site := networks(d.Address)
	var all, ofNetwork, ofSite int
	err := tx.One(sqldb.Row(&all, &ofNetwork, &ofSite), `SELECT COUNT(*), COUNT(CASE WHEN network = ? THEN 1 END),
		COUNT(CASE WHEN site = ? THEN 1 END) FROM devices WHERE expires_at > ? AND state = 'pending'`, network, site, now)
	switch {
	case err != nil:
		return err
	case ofNetwork >= maxOfNetwork, ofSite >= maxOfSite:
		return ErrTooMany
	case all >= maxDevices:
		err := tx.exec(`DELETE FROM devices WHERE hash = (SELECT hash FROM devices
			WHERE expires_at > ? AND state = 'pending' AND site = (SELECT site FROM devices
				WHERE expires_at > ? AND state = 'pending' GROUP BY site ORDER BY COUNT(*) DESC, MAX(created_at) DESC LIMIT 1)
			ORDER BY created_at, hash LIMIT 1)`, now, now)
		if err != nil {
			return err
		}
	}
	d.State, d.CreatedAt, d.ExpiresAt = DevicePending, now, now.Add(DeviceLife)
	added, err := tx.change(`INSERT INTO devices
		(hash, code, client, address, network, site, state, scopes, ends_at, created_at, expires_at)
		VALUES (`+sqldb.List(11)+") ON CONFLICT DO NOTHING",
		d.Hash, d.Code, d.Client, d.Address, network, site, d.State, "", 0, d.CreatedAt, d.ExpiresAt)
	if err == nil && !added {
		err = ErrExists
	}
	return err
}

// Device returns the device with this hash.
func (v View) Device(hash string) (*Device, error) {
	d := &Device{}
	err := v.One(deviceFields(d), selectDevices+"WHERE d.hash = ?", hash)
	return d, err
}

// LockDevice is [View.Device] for a device that [Tx.SaveDevice] changes.
func (tx *Tx) LockDevice(hash string) (*Device, error) {
	d, err := tx.Device(hash)
	if err == nil && d.UserID != 0 { // in the same order as RevokeTokensOf
		err = tx.lockAccount(d.UserID)
	}
	if err == nil {
		err = tx.One(sqldb.Row(new(string)), "SELECT hash FROM devices WHERE hash = ? @lock", hash)
	}
	if err != nil {
		return nil, err
	}
	return tx.Device(hash)
}

// SaveDevice stores the token, by id, that a terminal was given.
func (tx *Tx) SaveDevice(d *Device, token int64) error {
	return tx.exec("UPDATE devices SET state = ?, token_id = ? WHERE hash = ?", DeviceDone, token, d.Hash)
}

// DecideDevice stores what a user has decided about a terminal: its State, and for an approval the rights of the token.
// It reports whether the terminal was still waiting: only the first decision counts.
func (tx *Tx) DecideDevice(d *Device) (bool, error) {
	return tx.change(`UPDATE devices SET state = ?, user_id = ?, parent_id = ?, scopes = ?, ends_at = ?
		WHERE hash = ? AND state = 'pending' AND expires_at > ?`,
		d.State, d.UserID, orNull(d.ParentID), d.Scopes, d.EndsAt, d.Hash, tx.Now())
}

// FindDevice returns the waiting terminal with a code that a user has typed. ErrNotFound if there is none, which counts
// as a wrong code; ErrTooMany after too many of those. The transaction must be committed even then, to keep the count.
func (tx *Tx) FindDevice(user int64, code string) (*Device, error) {
	var wrong int
	var since Time
	err := tx.One(sqldb.Row(&wrong, &since), "SELECT wrong_codes, wrong_since FROM accounts WHERE id = ? @lock", user)
	if err != nil {
		return nil, err
	}
	if since <= tx.Now().Add(-DeviceLife) {
		wrong, since = 0, tx.Now()
	}
	if wrong >= maxCodes {
		return nil, ErrTooMany
	}
	d := &Device{}
	err = tx.One(deviceFields(d), selectDevices+"WHERE d.code = ? AND d.state = 'pending' AND d.expires_at > ?",
		code, tx.Now())
	if !errors.Is(err, ErrNotFound) {
		return d, err
	}
	err = tx.exec("UPDATE accounts SET wrong_codes = ?, wrong_since = ? WHERE id = ?", wrong+1, since, user)
	return nil, cmp.Or(err, ErrNotFound)
}
