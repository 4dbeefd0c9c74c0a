package push_test

import (
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

// pushedTwice returns a World that has pushed base files of one byte, and then of two.
func pushedTwice(t *testing.T, flags ...string) *apptest.World {
	t.Helper()
	w := apptest.Differing(t)
	w.Strict = true
	w.Write("src/a", "1")
	w.Run(push.Command, "web", "--base-files-only").Done()
	w.Write("src/a", "22")
	w.Write("src/b", "new")
	w.Run(push.Command, append([]string{"web"}, flags...)...).Done()
	return w
}

// wantSizes fails the test unless the hub has src/a and src/b with these sizes, 0 for none.
func wantSizes(t *testing.T, w *apptest.World, a, b int64) {
	t.Helper()
	if files := w.BaseFiles(apptest.Stack); files["src/a"] != a || files["src/b"] != b {
		t.Errorf("the hub has %v", files)
	}
}

func TestPush_UndoRestoresTheBaseFilesThatAPushReplaced(t *testing.T) {
	w := pushedTwice(t, "--base-files-only")
	w.Run(push.Command, "web", "--undo").Done().Prints("Restored the base files of @alice/web", "(1 changed, 1 removed)",
		"are restored", "local files stay as they are")
	wantSizes(t, w, 1, 0)
	wantConfig(t, w, `{"title":"hub"}`)
	if w.Read("src/a") != "22" {
		t.Error("a local file is changed")
	}
	w.Run(push.Command, "web", "--undo", "--json").Fails("revision_changed", "push")
	w.Run(push.Command, "web", "--base-files-only").Done().Prints(
		"the hub keeps the replaced base files; to restore them: ")
	wantSizes(t, w, 2, 3)
}

func TestPush_UndoRestoresConfigAndBaseFilesOfOnePush(t *testing.T) {
	w := pushedTwice(t, "--base-files")
	r := w.Run(push.Command, "web", "--undo", "--json").Done().JSON()
	if r["configChanged"] != true || r["baseFilesChanged"] != 1.0 || r["baseFilesRemoved"] != 1.0 {
		t.Errorf("%v", r)
	}
	wantSizes(t, w, 1, 0)
	wantConfig(t, w, `{"title":"hub"}`)
}

// A push of the config alone is not one with the push of base files before it.
func TestPush_UndoKeepsWhatAnotherPushWrote(t *testing.T) {
	w := pushedTwice(t, "--base-files-only")
	w.Run(push.Command, "web").Done().Prints("the previous config (")
	w.Run(push.Command, "web", "--undo").Done().Prints("Restored the config of @alice/web")
	wantSizes(t, w, 2, 3)
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_UndoKeepsTheConfigOfAnEarlierPush(t *testing.T) {
	w := pushedTwice(t, "--base-files")
	w.Write("src/a", "333")
	w.Run(push.Command, "web", "--base-files-only").Done()
	w.Run(push.Command, "web", "--undo").Done().Prints("Restored the base files of @alice/web")
	wantSizes(t, w, 2, 3)
	wantConfig(t, w, `{"title":"local"}`)
}
