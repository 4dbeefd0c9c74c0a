package basefiles_test

import (
	"testing"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/hubclient/tree"
)

func TestToConfirm(t *testing.T) {
	for _, path := range []string{
		".toolignore", ".ToolIgnore", ".env", "api/.env.local", "keys/server.pem", ".ssh/config",
		"dist/app.js", "node_modules/a/b.js",
		".vscode/tasks.json", "web/.VSCode/settings.json", ".envrc", ".npmrc", ".yarnrc.yml",
		".husky/pre-commit", ".gitattributes", "sub/.gitmodules", ".github/workflows/ci.yml", ".cargo/config.toml",
		"Makefile", "lib/makefile", ".bashrc", ".zshenv", ".profile", "run.CMD",
		".forgejo/workflows/a.yml", ".buildkite/pipeline.yml", "lefthook.yml", "web.code-workspace",
		"CLAUDE.md", "sub/AGENTS.override.md", ".cursorrules", ".Rprofile", ".mise/config.toml", "Setup.vbs",
		".v\u017fcode/ta\u017fks.json", "Make\ufb01le", ".envrc.", ".vscode /tasks.json", "Makefile:x", ".en\u200cvrc",
	} {
		if !basefiles.ToConfirm(".", tree.Entry{Path: path, Mode: tree.Regular}) {
			t.Errorf("%s is added unasked", path)
		}
	}
	if !basefiles.ToConfirm(".", tree.Entry{Path: "run", Mode: tree.Executable}) {
		t.Error("an executable file is added unasked")
	}
	for _, path := range []string{
		"index.html", "img/.gitkeep", "src/main.ts", "package.json", ".env.example",
		"toolignore", "docs/git.md", "assets/.well-known/x", "makefiles/a.txt",
		"\u017frc/main.ts", ".../a.txt", ":/a.txt", "agent.md",
	} {
		if basefiles.ToConfirm(".", tree.Entry{Path: path, Mode: tree.Regular}) {
			t.Errorf("%s is not added unasked", path)
		}
	}
	for _, root := range []string{".github/workflows", ".vscode", "apps/.husky", "node_modules/.bin", ".config", ".ssh"} {
		if !basefiles.ToConfirm(root, tree.Entry{Path: "tasks.json", Mode: tree.Regular}) {
			t.Errorf("a file in %s is added unasked", root)
		}
	}
	if basefiles.ToConfirm("apps/web", tree.Entry{Path: "src/main.ts", Mode: tree.Regular}) {
		t.Error("a file of an app in apps/web is not added unasked")
	}
}
