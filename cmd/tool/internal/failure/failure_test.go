package failure_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func TestFailure_HasReasonHintAndRecipe(t *testing.T) {
	e := failure.New(failure.CodeInvalidFile, "read %s: %w", "client.json", fs.ErrPermission).
		WithHint("chmod %o it", 0o644).Try(cmdline.Tool("push").With("web"), cmdline.Tool("status")).Try(cmdline.Tool("init"))
	if e.Error() != "read client.json: permission denied" || !errors.Is(e, fs.ErrPermission) {
		t.Errorf("the reason is %v", e)
	}
	if e.Code != failure.CodeInvalidFile || e.Hint != "chmod 644 it" || e.Stage != "" {
		t.Errorf("%+v", e)
	}
	want := []cmdline.Line{cmdline.Tool("push").With("web"), cmdline.Tool("status"), cmdline.Tool("init")}
	if diff := cmp.Diff(want, e.Recipe); diff != "" {
		t.Error(diff)
	}
}

func TestAt_KeepsFirstStage(t *testing.T) {
	f := failure.New(failure.CodeNoSettings, "no settings")
	err := failure.At("push", failure.At("read", f))
	if got := failure.Of(err); got.Stage != "read" || f.Stage != "" {
		t.Errorf("%+v of %+v", got, f)
	}
	wrapped := fmt.Errorf("push web: %w", err)
	if got := failure.Of(failure.At("push", wrapped)); got.Stage != "read" || got.Error() != "push web: no settings" {
		t.Errorf("%+v", got)
	}
	got := failure.Of(failure.At("seed", fs.ErrExist))
	if got.Stage != "seed" || got.Code != wire.CodeInternal || !errors.Is(got, fs.ErrExist) {
		t.Errorf("%+v", got)
	}
	if failure.At("push", nil) != nil || failure.Doing(nil, "web", "push") != nil {
		t.Error("nil becomes a failure")
	}
}

func TestFailure_MethodsLeaveTheReceiverAlone(t *testing.T) {
	f := failure.New(failure.CodeNoSettings, "no settings").Try(cmdline.Tool("push"))
	want := fmt.Sprintf("%+v", f)
	f.At("read").WithHint("a hint").WithCode(wire.CodeNotFound).WithReason("another").WithRecipe().
		About(ref.Ref{}, failure.Effects{ConfigWritten: true})
	f.Try(cmdline.Tool("pull"))
	f.Try(cmdline.Tool("status"))
	if got := fmt.Sprintf("%+v", f); got != want {
		t.Errorf("%s became %s", want, got)
	}
}

func TestOf_KeepsFieldsAndTextOfWrappedFailure(t *testing.T) {
	inner := failure.New(wire.CodeNotFound, "there is no project").WithHint("create it").
		Try(cmdline.Tool("project", "create"))
	inner.Status, inner.RequestID, inner.Effects.ConfigWritten = 404, "r1", true
	outer := fmt.Errorf("push web: %w", inner)
	want := inner
	want.Reason = outer
	byText := cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })
	if diff := cmp.Diff(want, failure.Of(outer), byText); diff != "" {
		t.Error(diff)
	}
	if got := failure.Of(inner); got.Error() != "there is no project" {
		t.Errorf("a failure is not itself but %v", got)
	}
}

func TestOf_TakesWhatTheHubSaid(t *testing.T) {
	fields := []wire.FieldError{{Pointer: "/a", Detail: "bad"}, {Pointer: "/b", Detail: "worse"}}
	err := &hubclient.Error{
		Code: wire.CodeInvalidBody, Status: 422, Detail: "refused", Hint: "change it", RequestID: "r1", Errors: fields,
	}
	f := failure.Of(fmt.Errorf("push: %w", err))
	if f.Code != err.Code || f.Status != 422 || f.Hint != "change it" || f.RequestID != "r1" ||
		len(f.Fields) != 2 || f.Error() != "push: refused" {
		t.Errorf("%+v", f)
	}
}

func TestOf_NamesTheMemberThatWasRefused(t *testing.T) {
	for pointer, want := range map[string]string{
		"/scopes": "scopes: refused", "/settings/a": "/settings/a: refused", "": "refused",
	} {
		err := &hubclient.Error{
			Detail: strings.TrimPrefix(pointer+": refused", ": "),
			Errors: []wire.FieldError{{Pointer: pointer, Detail: "refused"}},
		}
		f := failure.Of(err)
		if _, ok := errors.AsType[*hubclient.Error](f); !ok || f.Error() != want {
			t.Errorf("%q: %q", pointer, f.Error())
		}
	}
}

func TestOf_AddsFlagsAndVariablesToHints(t *testing.T) {
	certificate := &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	for want, err := range map[string]*hubclient.Error{
		"TOOL_ALLOW_HTTP": {Code: hubclient.CodeInsecureOrigin},
		"TOOL_API_ORIGIN": {Code: hubclient.CodeNotAHub},
		"--origin":        {Code: hubclient.CodeRedirected},
		"TOOL_CA_FILE":    {Code: hubclient.CodeUnreachable, Cause: certificate},
	} {
		if f := failure.Of(err); !strings.Contains(f.Hint, want) {
			t.Errorf("%s: %q", want, f.Hint)
		}
	}
	if f := failure.Of(&hubclient.Error{Code: hubclient.CodeUnreachable}); f.Hint != "" {
		t.Errorf("%q", f.Hint)
	}
}

func TestOf_GivesOtherErrorsCodeInternal(t *testing.T) {
	if e := failure.Of(fs.ErrClosed); e.Code != wire.CodeInternal || e.Reason != fs.ErrClosed {
		t.Errorf("%+v", e)
	}
}

func TestCause_StripsPath(t *testing.T) {
	other := errors.New("other")
	for err, want := range map[error]error{
		&fs.PathError{Op: "open", Path: "secret/path", Err: fs.ErrPermission}:                            fs.ErrPermission,
		&os.LinkError{Op: "rename", Old: "a.tmp", New: "a", Err: fs.ErrExist}:                            fs.ErrExist,
		fmt.Errorf("amid it: %w", &fs.PathError{Op: "open", Path: "secret/path", Err: fs.ErrPermission}): fs.ErrPermission,
		other: other,
	} {
		if got := failure.Cause(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
