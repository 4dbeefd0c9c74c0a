package app

import (
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/tree"
)

// Record remembers what a local project has in common with a project on the hub at origin,
// after a push or a pull of either part of base: in the sync state, in hub.json if the workspace
// has no hub yet, and in pulled.json. files are those with the digest base.Tree. It returns
// notes for the result; the failure is that of pulled.json, not_recorded.
func (a *App) Record(local *workspace.Project, origin string, base workspace.Pulled, files tree.Tree) ([]string, error) {
	a.RecordSync(origin, base, files)
	err := local.RecordPulled(origin, base)
	return a.RecordHub(local, origin), err
}

// RecordSync is the part of [App.Record] outside of the workspace.
func (a *App) RecordSync(origin string, base workspace.Pulled, files tree.Tree) {
	sync := a.SyncState()
	if base.Revision != "" {
		sync.Save(origin, base.Project, base.Revision)
	}
	if base.Tree != "" && sync.LastFiles(origin, base.Project).Digest != base.Tree {
		sync.SaveFiles(origin, base.Project, tree.Snapshot{Tree: files, Digest: base.Tree})
	}
}
