package api

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// maxClient bounds the name by which a terminal is shown to its user, in bytes.
const maxClient = 100

// startDevice starts a login of a terminal without a browser (RFC 8628): it responds with a secret for the
// terminal, and a code that the user approves on the page.
func startDevice(c *request.Call, req *wire.StartDevice) error {
	req.Client = cmp.Or(req.Client, "a terminal")
	if len(req.Client) > maxClient || request.CheckName(req.Client) != nil {
		return request.InvalidBody("/client", "the name of the client must be printable, and have at most %d bytes",
			maxClient)
	}
	secret, code := request.NewSecret(), store.NewCode()
	err := c.Write(func(tx *store.Tx) (request.Done, error) {
		return request.Done{}, tx.CreateDevice(&store.Device{
			Hash: pat.Hash(secret), Code: code, Client: req.Client, Address: c.Address(),
		})
	})
	if errors.Is(err, store.ErrTooMany) || errors.Is(err, store.ErrExists) {
		return request.RateLimited(60, "too many terminals wait to log in").Because(err)
	}
	if err != nil {
		return err
	}
	address := c.Hub.PublicURL + "/device"
	return c.JSON(http.StatusOK, wire.Device{
		DeviceCode: secret, UserCode: code, VerificationURI: address,
		VerificationURIComplete: address + "?" + url.Values{"code": {code}}.Encode(),
		ExpiresIn:               int(store.DeviceLife / time.Second), Interval: int(store.DeviceEvery / time.Second),
	})
}

// accessDenied is the 400 about a terminal that gets no token.
func accessDenied() *request.Problem {
	return request.Problemf(http.StatusBadRequest, wire.CodeAccessDenied, "the user denied the request")
}

// approved returns the terminal with a hash if its user has approved it, else why it gets no token yet, or ever. find
// is [store.View.Device] or [store.Tx.LockDevice].
func approved(find func(hash string) (*store.Device, error), hash string) (*store.Device, error) {
	d, err := find(hash)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && d.Expired:
		return nil, request.Problemf(http.StatusBadRequest, wire.CodeExpiredToken, "the code has expired").
			WithHint("start again")
	case err != nil:
		return nil, err
	case d.State == store.DevicePending:
		return nil, request.Problemf(http.StatusBadRequest, wire.CodeAuthorizationPending, "the user has not decided yet")
	case d.State == store.DeviceDenied, d.Disabled:
		return nil, accessDenied()
	}
	return d, nil
}

// deviceToken responds with a new token for the terminal, once its user has approved it. If the response is lost, the
// terminal asks again, and the next token replaces the first. Until the approval nothing is written: callers without
// a token must not delay the writes of others.
func deviceToken(c *request.Call, req *wire.DeviceCode) error {
	hash := pat.Hash(req.DeviceCode)
	if _, err := approved(c.View().Device, hash); err != nil {
		return err
	}
	secret := pat.New()
	return c.Write(func(tx *store.Tx) (done request.Done, err error) {
		d, err := approved(tx.LockDevice, hash)
		if err != nil {
			return done, err
		}
		token := &store.Token{
			Hash: pat.Hash(secret), Shown: pat.Shown(secret), Name: d.Client, AccountID: d.UserID, ParentID: d.ParentID,
			Scopes: d.Scopes, ExpiresAt: d.EndsAt,
		}
		if d.TokenID == 0 {
			err = tx.MintToken(token)
		} else {
			var former *store.RevokedToken
			if former, err = tx.ReplaceToken(token, d.TokenHash); err == nil {
				replaced := request.Revocation(d.User, d.User, former)
				replaced.Detail = "replaced"
				done.Also = []request.Done{replaced}
			}
		}
		if errors.Is(err, store.ErrRevoked) || errors.Is(err, store.ErrTooMany) {
			return done, accessDenied()
		}
		if err != nil {
			return done, err
		}
		done.Account, done.Actor = d.User, d.User
		done.Action, done.Object, done.Detail = "token.create", token.ShortID(), d.Scopes
		return done.With(http.StatusOK, wire.DeviceToken{Token: secret}), tx.SaveDevice(d, token.ID)
	})
}
