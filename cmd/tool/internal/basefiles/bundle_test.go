package basefiles_test

import (
	"path/filepath"
	"testing"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/pat"
)

func TestBundle_ExcludesClientFiles(t *testing.T) {
	root := plant(t, named(
		".tool/web/stack.json", ".tool/web/client.json", ".tool/web/manifest.json", ".tool/web/pulled.json",
		".tool/web/.client.json.123.tmp", ".tool/web/templates/.x.tmp", ".tool/web/templates/client.json",
		".tool/web/templates/page.tmpl", ".tool/web/templates/x.tmp", ".tool/web/.env", ".tool/web/tls.key",
		".tool/web/node_modules/a", ".tool/web/dist/a", ".tool/web/.tool/a", ".tool/other/stack.json", "src/a.ts",
	))
	write(t, filepath.Join(root, ".tool/web/.toolignore"), "templates/\n!.env\n")
	link(t, "../other/stack.json", filepath.Join(root, ".tool/web/link.json"))
	s, err := basefiles.Bundle(ctx, basefiles.Options{Workspace: root, Root: filepath.Join(root, ".tool", "web")})
	must(t, err)
	wantPaths(t, s, ".toolignore", "stack.json", "templates/client.json", "templates/page.tmpl", "templates/x.tmp")
	if s.Links != 1 {
		t.Errorf("%d links", s.Links)
	}
	if set := hash(t, s); set[1].SHA256 != digest(".tool/web/stack.json") {
		t.Errorf("stack.json has the digest %s", set[1].SHA256)
	}
}

func TestBundle_FailsLikeBaseFiles(t *testing.T) {
	root := plant(t, map[string]string{".tool/web/stack.json": "{}", ".tool/web/a.ts": pat.New(), ".tool/bad/a\\b": "1"})
	outside := plant(t, named("stack.json"))
	link(t, outside, filepath.Join(root, ".tool/linked"))
	bundle := func(project string) (*basefiles.Selection, error) {
		return basefiles.Bundle(ctx, basefiles.Options{Workspace: root, Root: filepath.Join(root, ".tool", project)})
	}

	s, err := bundle("web")
	must(t, err)
	if _, err = s.Hash(ctx, nil); err == nil {
		t.Error("a token went into a bundle")
	}
	_, err = bundle("bad")
	e := wantFault(t, err, failure.CodeInvalidFile, `invalid path .tool/bad/a\b: it contains a backslash`)
	if want := "rename it, or move it out of .tool/bad"; e.Hint != want {
		t.Errorf("hint %q, want %q", e.Hint, want)
	}
	_, err = bundle("absent")
	wantFault(t, err, failure.CodeNoLocalProject, "there is no directory .tool/absent")
	outside, _ = filepath.EvalSymlinks(outside)
	_, err = bundle("linked")
	wantFault(t, err, failure.CodeOutsideWorkspace, ".tool/linked leads to "+outside+", outside the workspace")
}
