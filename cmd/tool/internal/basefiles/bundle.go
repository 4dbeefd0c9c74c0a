package basefiles

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/wire"
)

// BundleOptions configure [Bundle].
type BundleOptions struct {
	Workspace string
	Project   string      // local project, whose directory .tool/<Project> is the bundle's root
	CacheDir  string      // as in Options
	Limits    wire.Limits // likewise
}

// notBundled lists files of a local project that belong to one destination or one
// machine, not to the stack.
const notBundled = `/client.json
/client.*.json
/manifest.json
/pulled.json
.*.tmp
`

// Bundle selects the files of a stack version: all below .tool/<project>, except those
// that the built-in rules exclude and those of notBundled.
func Bundle(ctx context.Context, o BundleOptions) (*Selection, error) {
	root := filepath.Join(o.Workspace, ".tool", o.Project)
	s, err := locate(o.Workspace, root, o.CacheDir)
	if errors.Is(err, errNoRoot) {
		return nil, failure.New(failure.CodeNoLocalProject, "there is no directory .tool/%s", o.Project)
	}
	if err != nil {
		return nil, err
	}
	s.remedy, s.limits = "move it out of "+s.name(""), cmp.Or(o.Limits, UsualLimits)
	own := ignore.Compile([]byte(notBundled), builtInSource)
	if err := s.walk(ctx, filter{own: own, never: never(nil)}); err != nil {
		return nil, err
	}
	return s, nil
}
