package page

import (
	"errors"
	"net/http"
	"net/url"

	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

const devicePath = "/device"

// device is the page on which a user compares the code of a terminal, and approves it.
type device struct {
	Layout
	Code     string
	Terminal *store.Device // nil: the code was not looked up yet, or it is wrong
	Refused  string        // why the code or the choice was not accepted
	Choices  choices
	Done     string // what was decided: approve or deny
}

// devicePage asks for the code that the terminal shows. It does not look the code up: that counts as an attempt, which
// takes a button.
func devicePage(c *request.Call) error {
	code, to := store.CleanCode(c.R.URL.Query().Get("code")), devicePath
	if code != "" {
		to += "?" + url.Values{"code": {code}}.Encode()
	}
	if signedIn, err := needSession(c, to); !signedIn {
		return err
	}
	return showDevice(c, http.StatusOK, device{Code: code})
}

func showDevice(c *request.Call, status int, shown device) error {
	shown.Layout = layout(c, "Log in from a terminal")
	shown.Here = devicePath
	if shown.Terminal != nil && shown.Done == "" {
		shown.Choices = choicesOf(c)
	}
	return show(c, status, "device", shown)
}

// Decisions about a terminal, and the states that they lead to.
var decisions = map[string]string{"approve": store.DeviceApproved, "deny": store.DeviceDenied}

// decideDevice shows which terminal a code is of, and then approves or denies it.
func decideDevice(c *request.Call) error {
	form, err := c.ReadForm()
	if err != nil {
		return err
	}
	if signedIn, err := needSession(c, devicePath); !signedIn {
		return err
	}
	code, decision := store.CleanCode(form.Get("code")), form.Get("decision")
	// A session that creates no tokens denies none to others, nor uses up the user's attempts.
	if refused, ok := errors.AsType[*request.Problem](c.NeedTokens()); ok {
		return showDevice(c, refused.Status, device{Code: code, Refused: sentence(refused.Detail)})
	}
	state := decisions[decision]
	var d *store.Device
	var wrong error // of the code; the transaction commits, so that a wrong code counts
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		d, wrong = tx.FindDevice(c.Access.Caller.AccountID, code)
		if errors.Is(wrong, store.ErrNotFound) || errors.Is(wrong, store.ErrTooMany) {
			return done, nil
		}
		if wrong != nil || state == "" {
			return done, wrong
		}
		d.State, d.UserID = state, c.Access.Caller.AccountID
		if state == store.DeviceApproved {
			d.ParentID = c.Access.TokenID
			if d.Scopes, d.EndsAt, err = chosen(c, tx, form); err != nil {
				return done, err
			}
		}
		decided, err := tx.DecideDevice(d)
		if err == nil && !decided {
			err = request.InvalidBody("/code", "somebody else was faster, or the terminal no longer waits")
		}
		return request.Done{
			Account: c.Access.Account, Action: "device." + decision, Object: d.Client, Detail: d.Scopes,
		}, err
	})
	shown, status := device{Code: code, Terminal: d}, http.StatusUnprocessableEntity
	refused, ok := errors.AsType[*request.Problem](err)
	switch {
	case ok && refused.Status != http.StatusUnauthorized:
		status, shown.Refused = refused.Status, sentence(refused.Detail)
	case err != nil:
		return err
	case errors.Is(wrong, store.ErrTooMany):
		shown.Refused = "Too many wrong codes. Wait ten minutes, and start again in the terminal."
	case wrong != nil:
		shown.Refused = "No terminal waits with this code. Compare it; after ten minutes a code has expired."
	default:
		status = http.StatusOK
		if state != "" {
			shown.Done = decision
		}
	}
	return showDevice(c, status, shown)
}
