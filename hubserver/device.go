package hubserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// The code that a user compares: consonants only, so that it spells nothing.
const (
	codeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	codeLength  = 8
)

// newCode returns a random code, with a hyphen in the middle.
func newCode() string {
	var b strings.Builder
	size := big.NewInt(int64(len(codeLetters)))
	for i := range codeLength {
		if i == codeLength/2 {
			b.WriteByte('-')
		}
		n, err := rand.Int(rand.Reader, size)
		if err != nil {
			panic(err) // crypto/rand never fails on a supported system
		}
		b.WriteByte(codeLetters[n.Int64()])
	}
	return b.String()
}

// cleanCode returns a code as it is stored, whatever case and separators were typed; ""
// for what is none.
func cleanCode(typed string) string {
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

// maxClient bounds what a terminal calls itself, in bytes.
const maxClient = 100

// startDevice lets a terminal wait for a token.
func (s *Server) startDevice(c *call) error {
	var req wire.StartDevice
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	if req.Client == "" {
		req.Client = "a terminal"
	}
	if len(req.Client) > maxClient || checkTokenName(req.Client) != nil {
		return invalidBody("/client", "the name of the client has at most %d printable characters", maxClient)
	}
	secret := newSecret()
	d := &store.Device{Hash: pat.Hash(secret), Code: newCode(), Client: req.Client, Address: network(c.address())}
	err := s.Store.Write(c.ctx(), func(tx *store.Tx) error { return tx.CreateDevice(c.ctx(), d) })
	if errors.Is(err, store.ErrTooMany) || errors.Is(err, store.ErrExists) {
		return problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "too many terminals wait for a token").
			with("Retry-After", "60").because(err)
	}
	if err != nil {
		return err
	}
	address := s.PublicURL + devicePath
	return c.json(http.StatusOK, wire.Device{
		DeviceCode: secret, UserCode: d.Code, VerificationURI: address, VerificationURIComplete: address + "?" + url.Values{"code": {d.Code}}.Encode(),
		ExpiresIn: int(store.DeviceLife / time.Second), Interval: int(store.DeviceEvery / time.Second),
	})
}

const devicePath = "/device"

// waitingDevice returns the terminal whose secret is in the body. It is only read: what
// anybody may ask takes no writer from others.
func (c *call) waitingDevice() (*store.Device, error) {
	var req wire.DeviceCode
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return nil, err
	}
	d, err := lookUp(c, func(v *store.View) (*store.Device, error) { return v.Device(c.ctx(), pat.Hash(req.DeviceCode)) })
	if errors.Is(err, store.ErrNotFound) {
		return nil, expiredToken()
	}
	return d, err
}

func expiredToken() *problem {
	return problemf(http.StatusBadRequest, wire.CodeExpiredToken, "the code has expired or was cancelled").hint("start again")
}

func accessDenied() *problem {
	return problemf(http.StatusBadRequest, wire.CodeAccessDenied, "the user denied the request")
}

// deviceToken gives the token to the terminal, once a user has approved it. A terminal
// that lost the response asks again, and gets another token in place of the first.
func (s *Server) deviceToken(c *call) error {
	d, err := c.waitingDevice()
	if err != nil {
		return err
	}
	if wait := s.polls.note(d.Hash); wait > 0 {
		return problemf(http.StatusBadRequest, wire.CodeSlowDown, "wait longer between two requests").
			with("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	if err := notApproved(d); err != nil {
		return err
	}
	secret := ""
	err = s.Store.Write(c.ctx(), func(tx *store.Tx) (err error) {
		secret, err = c.fetchToken(tx, d.Hash)
		return err
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, wire.DeviceToken{Token: secret})
}

// notApproved is why a device gets no token; nil if a user has approved it.
func notApproved(d *store.Device) error {
	switch {
	case d.Expired, d.State == store.DeviceCancelled:
		return expiredToken()
	case d.State == store.DevicePending:
		return problemf(http.StatusBadRequest, wire.CodeAuthorizationPending, "the user has not decided yet")
	case d.State == store.DeviceDenied:
		return accessDenied()
	}
	return nil
}

// fetchToken mints the token of a device that was approved.
func (c *call) fetchToken(tx *store.Tx, hash string) (string, error) {
	d, err := tx.LockDevice(c.ctx(), hash)
	if err != nil {
		return "", err
	}
	if err := notApproved(d); err != nil {
		return "", err
	}
	if err := c.checkApproval(tx, d); err != nil {
		return "", err
	}
	if d.Token != "" {
		former, err := tx.RevokeToken(c.ctx(), d.Token)
		if err != nil {
			return "", err
		}
		if former.WasRevoked {
			return "", accessDenied()
		}
		if err := c.auditDeviceRevocation(tx, d, former, "replaced"); err != nil {
			return "", err
		}
	}
	secret := pat.New()
	token := &store.Token{
		Hash: pat.Hash(secret), Shown: pat.Shown(secret), Name: d.Client, Owner: d.User, Scopes: d.Scopes, ExpiresAt: d.EndsAt,
	}
	parent := cmp.Or(d.Token, d.Parent) // a revocation of the former token, of which a user may be looking at a list, ends this one
	if err := tx.MintToken(c.ctx(), token, parent); errors.Is(err, store.ErrTooMany) {
		return "", accessDenied()
	} else if err != nil {
		return "", err
	}
	d.State, d.Token = store.DeviceDone, token.Hash
	if err := tx.SaveDevice(c.ctx(), d); err != nil {
		return "", err
	}
	return secret, c.auditDevice(tx, d, "token.create", token.ID(), d.Scopes)
}

// auditDevice adds a row about a token of the user who approved a terminal.
func (c *call) auditDevice(tx *store.Tx, d *store.Device, action, token, detail string) error {
	row := c.deviceRow(d, detail)
	row.Action, row.Object = action, token
	return tx.Audit(c.ctx(), row)
}

// auditDeviceRevocation is [call.auditDevice] for a token that was revoked.
func (c *call) auditDeviceRevocation(tx *store.Tx, d *store.Device, token *store.RevokedToken, detail string) error {
	return tx.AuditRevocation(c.ctx(), c.deviceRow(d, detail), token)
}

func (c *call) deviceRow(d *store.Device, detail string) store.AuditRow {
	return store.AuditRow{Account: d.User, Actor: d.User, Detail: detail, RequestID: c.id, Address: c.address()}
}

// checkApproval denies a token if what is behind the approval is no longer valid.
func (c *call) checkApproval(tx *store.Tx, d *store.Device) error {
	if err := tx.LockRights(c.ctx(), d.User); err != nil {
		return err
	}
	if d.Parent != "" {
		var refused *problem
		if err := bearerProblem(tx.Bearer(c.ctx(), d.Parent)); errors.As(err, &refused) {
			return accessDenied()
		} else if err != nil {
			return err
		}
	}
	user, err := tx.Account(c.ctx(), d.User)
	if err == nil && user.DisabledAt != 0 {
		return accessDenied()
	}
	return err
}

// cancelDevice ends the wait of a terminal, and revokes the token that it was given.
func (s *Server) cancelDevice(c *call) error {
	waiting, err := c.waitingDevice()
	if err != nil {
		return err
	}
	if waiting.State == store.DeviceCancelled {
		return c.json(http.StatusOK, wire.DeviceCancelled{Cancelled: true})
	}
	err = s.Store.Write(c.ctx(), func(tx *store.Tx) error {
		d, err := tx.LockDevice(c.ctx(), waiting.Hash)
		if err != nil {
			return err
		}
		if d.Token != "" {
			token, err := tx.RevokeToken(c.ctx(), d.Token)
			if err != nil {
				return err
			}
			if !token.WasRevoked {
				if err := c.auditDeviceRevocation(tx, d, token, "cancelled"); err != nil {
					return err
				}
			}
		}
		d.State = store.DeviceCancelled
		return tx.SaveDevice(c.ctx(), d)
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, wire.DeviceCancelled{Cancelled: true})
}

// devicePage asks for the code that the terminal shows. It does not look the code up:
// that counts as an attempt, which takes a button.
func (s *Server) devicePage(c *call) error {
	code := cleanCode(c.r.URL.Query().Get("code"))
	to := devicePath
	if code != "" {
		to += "?" + url.Values{"code": {code}}.Encode()
	}
	if signedIn, err := c.needSession(to); !signedIn {
		return err
	}
	return c.showDevice(http.StatusOK, page.Device{Code: code})
}

func (c *call) showDevice(status int, shown page.Device) error {
	shown.Layout = c.layout("Log in from a terminal")
	shown.Here = devicePath
	if shown.Client != "" && shown.Done == "" {
		shown.Choices, shown.NoTokens = c.choices(), sentence(c.noTokens())
	}
	body, err := shown.Render()
	return c.html(status, body, err)
}

// Decisions about a terminal.
const (
	approve = "approve"
	deny    = "deny"
)

// decideDevice shows which terminal a code is of, and then approves or denies it.
func (s *Server) decideDevice(c *call) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	if signedIn, err := c.needSession(devicePath); !signedIn {
		return err
	}
	shown := page.Device{Code: cleanCode(form.Get("code"))}
	var d *store.Device
	var wrong error // which is counted
	decision := form.Get("decision")
	err = c.transact(c.ctx(), func(tx *store.Tx) error {
		d, wrong = tx.FindDevice(c.ctx(), c.who.user, shown.Code)
		if errors.Is(wrong, store.ErrNotFound) || errors.Is(wrong, store.ErrTooMany) {
			return nil
		}
		if wrong != nil || decision != approve && decision != deny {
			return wrong
		}
		return c.decide(c.ctx(), tx, d, decision, form)
	})
	var refused *problem
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity:
		shown.Refused = sentence(refused.Detail)
	case err != nil:
		return err
	case errors.Is(wrong, store.ErrTooMany):
		shown.Refused = "Too many wrong codes. Wait ten minutes, and start again in the terminal."
	case wrong != nil:
		shown.Refused = "No terminal waits with this code. Compare it; after ten minutes a code has expired."
	}
	if d != nil {
		shown.Client, shown.Address, shown.StartedAt = d.Client, d.Address, d.CreatedAt.Time()
	}
	if shown.Refused != "" {
		return c.showDevice(http.StatusUnprocessableEntity, shown)
	}
	if decision == approve || decision == deny {
		shown.Done = decision
	}
	return c.showDevice(http.StatusOK, shown)
}

// decide approves or denies a terminal that waits.
func (c *call) decide(ctx context.Context, tx *store.Tx, d *store.Device, decision string, form url.Values) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	d.State, d.User = store.DeviceDenied, c.who.user
	if decision == approve {
		d.State, d.Parent = store.DeviceApproved, c.who.session.Token
		if d.Scopes, d.EndsAt, err = c.chosen(form, now); err != nil {
			return err
		}
	}
	decided, err := tx.DecideDevice(ctx, d)
	if err != nil {
		return err
	}
	if !decided {
		return invalidBody("/code", "somebody else was faster, or the terminal no longer waits")
	}
	return c.audit(ctx, tx, c.who.user, "device."+decision, d.Client, d.Scopes)
}
