package basefiles

import (
	"context"
	"path/filepath"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/cmd/tool/internal/failure"
)

// BundleOptions say which bundle to choose.
type BundleOptions struct {
	Workspace string
	Project   string // local project, whose directory .tool/<Project> is the bundle's root
	CacheDir  string // as in Options
}

// notBundled is what a local project keeps for itself: its files are about one
// destination or one machine, not the stack.
const notBundled = `/client.json
/manifest.json
/pulled.json
.*.tmp
`

// Bundle selects the files of a stack version: all that the built-in rules keep
// below .tool/<project>, but for the client's own.
func Bundle(ctx context.Context, o BundleOptions) (*Selection, error) {
	root := filepath.Join(o.Workspace, ".tool", o.Project)
	s, err := locate(o.Workspace, root, o.CacheDir)
	if err == errNoRoot {
		return nil, failure.New(failure.CodeNoLocalProject, "there is no directory .tool/%s", o.Project)
	}
	if err != nil {
		return nil, err
	}
	s.remedy = "move it out of " + s.name("")
	own := ignore.Compile([]byte(notBundled), builtInSource)
	if err := s.walk(ctx, choice{rules: []*ignore.Rules{own, builtIn()}, never: never(nil)}); err != nil {
		return nil, err
	}
	return s, nil
}
