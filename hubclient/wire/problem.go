package wire

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Problem is the body of every response that is not a success: application/problem+json (RFC 9457).
type Problem struct {
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail"`
	Hint      string       `json:"hint,omitzero"`
	Code      Code         `json:"code"`
	RequestID string       `json:"requestId"`
	Errors    []FieldError `json:"errors,omitzero"`

	// Members of some codes, so that a program does not have to parse the detail.
	Current *Edit    `json:"current,omitzero"` // revision_changed, plan_outdated: what is stored now
	Missing []string `json:"missing,omitzero"` // plan_outdated: digests of the contents that are not there

	// Of not_found, or of copyOf: the project was deleted, and those who may restore it can until then.
	RestorableUntil time.Time `json:"restorableUntil,omitzero"`
}

// FieldError is one reason why a request was refused (status 422).
type FieldError struct {
	Pointer string `json:"pointer"` // JSON pointer into the request's body
	Detail  string `json:"detail"`

	// Of a value that a JSON Schema does not allow: the keyword that forbids it, what that asks for, and what the
	// value has, such as maxLength, 60 and 90. They are absent where there is no such thing.
	Keyword string         `json:"keyword,omitzero"` // or KeywordCredential
	Want    jsontext.Value `json:"want,omitzero"`
	Got     jsontext.Value `json:"got,omitzero"`
}

// KeywordCredential is the keyword of a finding about a value that looks like a credential.
const KeywordCredential = "credential"

// Edit says who wrote something, when, and through what.
type Edit struct {
	Revision   string    `json:"revision,omitzero"`
	UpdatedAt  time.Time `json:"updatedAt,omitzero"`
	UpdatedBy  string    `json:"updatedBy,omitzero"`
	UpdatedVia Via       `json:"updatedVia,omitzero"`
}

// Via says how a config was written.
type Via string

// The ways to write a config.
const (
	ViaCreate  Via = "create"  // the seed of `tool project create`
	ViaPush    Via = "push"    // any other PUT of client-config
	ViaPage    Via = "page"    // an edit on the project page
	ViaAPI     Via = "api"     // a PATCH by token
	ViaRestore Via = "restore" // what the history has was restored, by `tool restore`, `push --undo` or on the page
)

// Phrase names the way in a sentence: "through the API".
func (v Via) Phrase() string {
	switch v {
	case ViaPage:
		return "the project page"
	case ViaAPI:
		return "the API"
	case ViaRestore:
		return "a restore"
	}
	return string(v)
}

// Code is the stable name of a failure. The list grows; a code never changes its meaning.
type Code string

// Codes that a hub answers.
const (
	CodeUnauthorized         Code = "unauthorized"
	CodeTokenExpired         Code = "token_expired"
	CodeTokenRevoked         Code = "token_revoked"
	CodeNotPermitted         Code = "not_permitted"
	CodeMissingScope         Code = "missing_scope"
	CodeNotSignedIn          Code = "not_signed_in"         // no session, or it has ended
	CodeAuthorizationPending Code = "authorization_pending" // of a terminal: nobody has decided yet
	CodeAccessDenied         Code = "access_denied"
	CodeExpiredToken         Code = "expired_token"
	CodeCrossSite            Code = "cross_site" // sent by a page of another origin
	CodeNotFound             Code = "not_found"
	CodeProjectExists        Code = "project_exists"
	CodeRenamed              Code = "renamed" // the Location has the present name
	CodeLastAdmin            Code = "last_admin"
	CodeStackNotPublished    Code = "stack_not_published"
	CodeAPINotFound          Code = "api_not_found"
	CodeAPIExists            Code = "api_exists"
	CodeAPIInUse             Code = "api_in_use"
	CodeVersionExists        Code = "version_exists"
	CodeVersionNotNewer      Code = "version_not_newer"
	CodeRevisionChanged      Code = "revision_changed"
	CodeRevisionNotKept      Code = "revision_not_kept"
	CodePreconditionRequired Code = "precondition_required"
	CodeInvalidJSON          Code = "invalid_json"
	CodeInvalidBody          Code = "invalid_body"
	CodeMessageTooLong       Code = "message_too_long"
	CodeInvalidDescription   Code = "invalid_description"
	CodeTooLarge             Code = "too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeRateLimited          Code = "rate_limited"
	CodeIdempotencyMismatch  Code = "idempotency_mismatch"
	CodeAddressRefused       Code = "address_refused"
	CodeUnknownRoute         Code = "unknown_route"
	CodeMethodNotAllowed     Code = "method_not_allowed"
	CodeSetExists            Code = "set_exists"
	CodePlanOutdated         Code = "plan_outdated"
	CodeBotMismatch          Code = "bot_mismatch"
	CodeSettingsInvalid      Code = "settings_invalid"
	CodeSecretFound          Code = "secret_found"
	CodeUnavailable          Code = "unavailable"
	CodeStorageFull          Code = "storage_full"
	CodeDamaged              Code = "damaged" // what is stored is not what was stored
	CodeInternal             Code = "internal"
)
