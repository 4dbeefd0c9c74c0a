package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func TestError_HasReasonHintAndRecipe(t *testing.T) {
	e := fault.New(wire.CodeInvalidFile, "read %s: %w", "client.json", fs.ErrPermission).
		WithHint("chmod %o it", 0o644).Try(cmdline.Tool("push").With("web"), cmdline.Tool("status")).Try(cmdline.Tool("init"))
	if e.Error() != "read client.json: permission denied" || !errors.Is(e, fs.ErrPermission) {
		t.Errorf("the reason is %v", e)
	}
	if e.Code != wire.CodeInvalidFile || e.Hint != "chmod 644 it" || e.Stage != "" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff([]cmdline.Line{cmdline.Tool("push").With("web"), cmdline.Tool("status"), cmdline.Tool("init")}, e.Recipe); diff != "" {
		t.Error(diff)
	}
}

func TestAt_KeepsFirstStage(t *testing.T) {
	e := fault.New(wire.CodeNoSettings, "no settings")
	for _, stage := range []string{"read", "push"} {
		if got := fault.At(stage, e); got != error(e) || e.Stage != "read" {
			t.Errorf("at %s it is %+v", stage, got)
		}
	}
	if got := fault.From(fault.At("seed", fs.ErrExist)); got.Stage != "seed" || got.Code != wire.CodeInternal || !errors.Is(got, fs.ErrExist) {
		t.Errorf("%+v", got)
	}
	if fault.At("push", nil) != nil {
		t.Error("nothing becomes a failure")
	}
}

func TestFrom_KeepsFieldsAndTextOfWrappedError(t *testing.T) {
	inner := fault.New(wire.CodeNotFound, "there is no project").WithHint("create it").Try(cmdline.Tool("project", "create"))
	inner.Status, inner.RequestID, inner.Did.ConfigWritten = 404, "r1", true
	outer := fmt.Errorf("push web: %w", inner)
	got := fault.From(outer)
	if got == inner || got.Error() != "push web: there is no project" || inner.Error() != "there is no project" {
		t.Errorf("%v of %v", got, inner)
	}
	want := *inner
	want.Err = outer
	if diff := cmp.Diff(want, *got, cmp.Comparer(func(a, b error) bool { return a == b }), cmpopts.EquateComparable(ref.Ref{})); diff != "" {
		t.Error(diff)
	}
	if fault.From(inner) != inner {
		t.Error("a failure is not itself")
	}
}

func TestFrom_GivesOtherErrorsCodeInternal(t *testing.T) {
	if e := fault.From(fs.ErrClosed); e.Code != wire.CodeInternal || e.Err != fs.ErrClosed {
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
		if got := fault.Cause(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
