package basefiles_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

func TestChoose_AppliesBuiltInRules(t *testing.T) {
	out := []string{
		".git/config", ".hg/x", ".svn/x", ".DS_Store", "a/Thumbs.db", "node_modules/a.js", "a/node_modules/b/c.js",
		"dist/a", "build/a", "out/a", "coverage/a", ".next/a", ".nuxt/a", ".turbo/a", ".cache/a", ".vercel/a",
		".terraform/a", ".venv/a", "a/__pycache__/b", ".idea/a", ".vscode/a", "a.log", "tsconfig.tsbuildinfo",
		"x.tfstate", ".env", "a/.env", ".env.local", ".envrc", ".dev.vars", "tls.pem", "tls.key", "a.p12", "a.pfx",
		"a.jks", "release.keystore", "id_ecdsa", "id_ecdsa.pub", ".aws/credentials", "a/.ssh/config", ".pgpass",
		".git-credentials",
		"x.tfstate.backup", ".tool-x.tmp", ".client.json.tool-x.tmp", "id_rsa", "id_rsa.pub", "id_ed25519", ".npmrc",
		".netrc", ".pypirc",
		"id_dsa", "a.ppk", "a.kdbx", "a/.docker/config.json", ".dockercfg", ".kube/config", "kubeconfig",
		".gnupg/a", ".azure/a", "a/.config/gcloud/b/c", ".cargo/credentials", "a/.cargo/credentials.toml",
		"a/.m2/settings.xml", ".htpasswd", ".vault-token", ".terraformrc", "prod.tfvars", ".s3cfg",
		".boto", "auth.json", ".composer/auth.json", "credentials.json", "service-account-1.json", ".bash_history",
		"env.local", "prod.env",
		"b/.ENV", "B.Pem", "b/ID_RSA", "b/.Aws/config", "b/.Kube/Config", "b/Credentials.JSON",
	}
	kept := []string{
		".cargo/config.toml", ".config/a", ".docker/a", ".env.example", ".gitignore", ".kube/a", "Build/a",
		"a/.ENV.Example", "a/auth.json", "a/build/x", "a/coverage/x", "a/dist/x", "a/out/x", "environment.ts", "index.html",
		"keys.ts", "node_modules.md", "src/log.ts",
	}
	wantPaths(t, choose(t, at(plant(t, named(slices.Concat(out, kept)...)))), kept...)
}

func TestChoose_AppliesToolignoreAfterBuiltInRules(t *testing.T) {
	root := plant(t, map[string]string{
		".toolignore": "# what we keep\n!dist/\n!.npmrc\n*.tmp\n!keep.tmp\n/private/\n",
		"dist/a.js":   "", ".npmrc": "", "a.tmp": "", "keep.tmp": "", "private/a": "", "b/private/a": "",
	})
	wantPaths(t, choose(t, at(root)), ".npmrc", ".toolignore", "b/private/a", "dist/a.js", "keep.tmp")
}

func TestChoose_MarksFilesThatHoldSecrets(t *testing.T) {
	rules := "!.ENV\n!.ssh/\n!dist/\n!*.key\n"
	root := plant(t, map[string]string{
		".toolignore": rules, ".ENV": "", "a/.ssh/known": "", "a/.ssh/b/c": "", "dist/a": "", "a.key": "", "b": "",
		".env.example": "", ".aws/.toolignore": rules, ".aws/cli/x": "", ".docker/config.json": "", ".docker/a": "",
	})
	for app, want := range map[string][]string{
		".":       {".ENV", "a.key", "a/.ssh/b/c", "a/.ssh/known"},
		".aws":    {".aws/.toolignore", ".aws/cli/x"}, // an app root is no way around the rules
		".docker": nil,
	} {
		s := choose(t, basefiles.Options{Workspace: root, Root: filepath.Join(root, app)})
		var secrets []string
		for _, f := range s.Files {
			if f.Secret {
				secrets = append(secrets, s.InWorkspace(f))
			}
			if f.Path == "config.json" {
				t.Errorf("%s: %s is selected", app, f.Path)
			}
		}
		if diff := cmp.Diff(want, secrets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", app, diff)
		}
	}
}

func TestChoose_ToolignoreAllowsCRLFAndBOM(t *testing.T) {
	root := plant(t, map[string]string{".toolignore": "\ufeffa.txt\r\nb/\r\n", "a.txt": "", "b/c": "", "d": ""})
	wantPaths(t, choose(t, at(root)), ".toolignore", "d")
}

func TestChoose_ToolignoreMatchesBothUnicodeForms(t *testing.T) {
	root := plant(t, map[string]string{".toolignore": "caf\u00e9\ncre\u0300me\n", "cafe\u0301": "", "cr\u00e8me": "",
		"x": ""})
	wantPaths(t, choose(t, at(root)), ".toolignore", "x")
}

func TestChoose_NeverTakesReservedDirectoriesNorGeneratedFiles(t *testing.T) {
	root := plant(t, map[string]string{
		".toolignore": "!.tool\n!.tool/**\n!.TOOL\n!gen.ts\n!caf*.ts\n!.git\n!.svn\n",
		".git/config": "", "src/.git/hooks/pre-commit": "", "src/.svn/x": "", "git~1/config": "", ".tool/web/a": "",
		".TOOL/web/b": "", "src/gen.ts": "", "src/own.ts": "", "src/all/generated1": "",
		"src/cafe\u0301.ts": "", "src/cr\u00e8me.ts": "", "src/deep/.tool/a": "",
	})
	o := at(root)
	o.Generated = []string{
		"./src/gen.ts", "src/caf\u00e9.ts", "src/cre\u0300me.ts", "src/all/", "src/absent.ts", "../outside.ts", "/etc/passwd",
	}
	wantPaths(t, choose(t, o), ".toolignore", "src/own.ts")
}

func TestChoose_SelectsOnlyAppRoot(t *testing.T) {
	root := plant(t, map[string]string{
		".toolignore": "*.ts", "other.ts": "", ".tool/web/client.json": "",
		"apps/web/.toolignore": "*.tmp", "apps/web/a.tmp": "", "apps/web/src/a.ts": "", "apps/web/src/gen.ts": "",
		"apps/web/.tool/x": "", "apps/web/apps/web/src/gen.ts": "", "apps/api/a.ts": "",
	})
	o := basefiles.Options{Workspace: root, Root: filepath.Join(root, "apps/web"),
		Generated: []string{"apps/web/src/gen.ts"}}
	wantPaths(t, choose(t, o), ".toolignore", "apps/web/src/gen.ts", "src/a.ts")
}

func TestChoose_AllowsSymlinkedAppRootInsideWorkspace(t *testing.T) {
	root := plant(t, named("packages/web/a.ts", "packages/web/gen1.ts", "packages/web/gen2.ts"))
	link(t, "packages/web", filepath.Join(root, "app"))
	o := basefiles.Options{Workspace: root, Root: filepath.Join(root, "app"),
		Generated: []string{"app/gen1.ts", "packages/web/gen2.ts"}}
	s := choose(t, o)
	wantPaths(t, s, "a.ts")
	if got := hash(t, s)[0].SHA256; got != digest("packages/web/a.ts") {
		t.Errorf("digest %s", got)
	}
}

func TestChoose_RejectsAppRootOutsideWorkspace(t *testing.T) {
	root, outside := plant(t, named("a")), plant(t, named("secret"))
	link(t, outside, filepath.Join(root, "app"))
	outside, err := filepath.EvalSymlinks(outside)
	must(t, err)
	_, err = basefiles.Choose(ctx, basefiles.Options{Workspace: root, Root: filepath.Join(root, "app")})
	wantFault(t, err, failure.CodeOutsideWorkspace, "app leads to "+outside+", outside the workspace")
	_, err = basefiles.Choose(ctx, basefiles.Options{Workspace: root, Root: filepath.Dir(root)})
	wantFault(t, err, failure.CodeOutsideWorkspace,
		filepath.Dir(root)+" leads to "+filepath.Dir(root)+", outside the workspace")
}

func TestChoose_EmptySelectionFailsUnlessAllowed(t *testing.T) {
	root := plant(t, named("empty/a.log", "file", ".tool/web/src/a"))
	for dir, reason := range map[string]string{
		"empty":     "no file below the app root empty is selected",
		"absent":    "the app root absent does not exist",
		".tool/web": "the app root .tool/web is in .tool, which no app is in",
	} {
		_, err := basefiles.Choose(ctx, basefiles.Options{Workspace: root, Root: filepath.Join(root, dir)})
		e := wantFault(t, err, failure.CodeNoBaseFiles, reason)
		if !strings.Contains(e.Hint, "--allow-empty") {
			t.Errorf("hint %q does not name --allow-empty", e.Hint)
		}
	}
	for _, dir := range []string{"empty", "absent"} {
		s := choose(t, basefiles.Options{Workspace: root, Root: filepath.Join(root, dir), AllowEmpty: true,
			CacheDir: t.TempDir()})
		if set := hash(t, s); len(s.Files) > 0 || len(set) > 0 {
			t.Errorf("%s: chosen %v, hashed %v", dir, s.Files, set)
		}
	}
	_, err := basefiles.Choose(ctx, basefiles.Options{Workspace: root, Root: filepath.Join(root, "file"),
		AllowEmpty: true})
	wantFault(t, err, failure.CodeInvalidFile, "file is not a directory")
	_, err = basefiles.Choose(ctx, basefiles.Options{Workspace: root + "x", Root: root + "x"})
	if e := failure.Of(err); e.Code != failure.CodeNoWorkspace {
		t.Errorf("without a workspace: %v (code %s)", err, e.Code)
	}
}

func TestChoose_ListsSkippedFilesWithReason(t *testing.T) {
	root := plant(t, map[string]string{
		".toolignore": "\n\n*.tmp\n/private/\n", ".tool/web/client.json": "", "node_modules/a/b": "", "a.tmp": "",
		"private/x": "", "gen.ts": "", "gendir/a": "", "dist/x": "", "src/a.ts": "", "src/b.log": "",
	})
	link(t, "src", filepath.Join(root, "link"))
	o := at(root)
	o.Generated = []string{"gen.ts", "gendir"}
	if s := choose(t, o); s.Skipped != nil || s.Links != 1 {
		t.Errorf("unasked: skipped %v, %d links", s.Skipped, s.Links)
	}
	o.ListSkipped = true
	want := []basefiles.Skip{
		{".tool/", "the stack, which is published on its own"},
		{"a.tmp", "*.tmp (.toolignore:3)"},
		{"dist/", "/dist/ (built-in)"},
		{"gen.ts", "generated (manifest.json)"},
		{"gendir/", "generated (manifest.json)"},
		{"link", "symbolic link"},
		{"node_modules/", "node_modules/ (built-in)"},
		{"private/", "/private/ (.toolignore:4)"},
		{"src/b.log", "*.log (built-in)"},
	}
	if diff := cmp.Diff(want, choose(t, o).Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestChoose_RecordsModeSizeAndPath(t *testing.T) {
	root := plant(t, map[string]string{"run.sh": "#!/bin/sh\n", "a/b.txt": "12345", "a.b": "1", "a/a": "1", "a-b": "1",
		"Z": "1"})
	must(t, os.Chmod(filepath.Join(root, "run.sh"), 0o710))
	s := choose(t, at(root))
	wantPaths(t, s, "Z", "a-b", "a.b", "a/a", "a/b.txt", "run.sh")
	modes, sizes := map[tree.Mode][]string{}, int64(0)
	for _, f := range s.Files {
		modes[f.Mode] = append(modes[f.Mode], f.OnDisk)
		sizes += f.Size
	}
	want := map[tree.Mode][]string{tree.Executable: {"run.sh"}, tree.Regular: {"Z", "a-b", "a.b", "a/a", "a/b.txt"}}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	if s.Bytes != 19 || sizes != 19 {
		t.Errorf("%d bytes together, %d one by one, want 19", s.Bytes, sizes)
	}
}

func TestChoose_NormalizesNamesToNFC(t *testing.T) {
	root := plant(t, named("cafe\u0301/menu\u0308.txt", "plain/u\u0308"))
	s := choose(t, at(root))
	wantPaths(t, s, "caf\u00e9/men\u00fc.txt", "plain/\u00fc")
	if got := s.Files[0].OnDisk; got != "cafe\u0301/menu\u0308.txt" {
		t.Errorf("on disk %+q", got)
	}
	if got := hash(t, s)[1].SHA256; got != digest("plain/u\u0308") {
		t.Errorf("digest of a file whose name is not in NFC: %s", got)
	}
}

func TestChoose_MergesDirectoriesEqualInNFC(t *testing.T) {
	root := plant(t, named("e\u0301/b", "\u00e9/a", "\u00e9/c"))
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 2 {
		t.Skip("the file system takes both of Unicode's forms for one name")
	}
	s := choose(t, at(root))
	wantPaths(t, s, "\u00e9/a", "\u00e9/b", "\u00e9/c")
	if _, err := tree.New(hash(t, s)); err != nil {
		t.Error(err)
	}
}

func TestChoose_RejectsCollidingNames(t *testing.T) {
	for _, c := range []struct {
		names  []string
		reason string
	}{
		{[]string{"src/App.ts", "src/app.ts"}, `invalid path src/app.ts: it differs from "src/App.ts" only in case`},
		{[]string{"A/x", "a/X"}, `invalid path a/X: it differs from "A/x" only in case`},
		{[]string{"A", "a/x"}, `invalid path a/x: "A" is a file, not a directory`},
		{[]string{"stra\u00dfe", "STRASSE"}, `invalid path straße: it differs from "STRASSE" only in case`},
		{[]string{"k", "\u212a"}, "invalid path K: another"},
		{[]string{"e\u0301", "\u00e9"}, "invalid path é: another file's name differs from it only in Unicode normalization"},
		{[]string{"\u00c9", "e\u0301"}, `invalid path é: it differs from "É" only in case`},
	} {
		root := plant(t, named(c.names...))
		_, err := basefiles.Choose(ctx, at(root))
		if c.names[0] == "k" { // the Kelvin sign is K in NFC
			c.reason = `invalid path k: it differs from "K" only in case`
		}
		e := wantFault(t, err, failure.CodeInvalidFile, c.reason)
		if e.Hint != "rename it, or exclude it in .toolignore" {
			t.Errorf("hint %q", e.Hint)
		}
	}
}

func TestChoose_AllowsSimilarNamesInDifferentDirectories(t *testing.T) {
	names := []string{"A/x", "B/README", "a/y", "b/readme.md"}
	wantPaths(t, choose(t, at(plant(t, named(names...)))), names...)
}

func TestChoose_RejectsInvalidPath(t *testing.T) {
	for name, reason := range map[string]string{
		"src/a\\b":               `invalid path src/a\b: it contains a backslash`,
		"a\nb":                   `invalid path "a\nb": it contains a control or bidirectional character`,
		"a\u202eb/c":             `invalid path "a\u202eb/c": it contains a control or bidirectional character`,
		"a\xffb":                 `invalid path "a\xffb": it is not UTF-8`,
		long(1024-4) + "/x/yz":   "invalid path " + long(1024-4) + "/x/yz: it is longer than 1024 bytes",
		long(1024) + "/excluded": "invalid path " + long(1024) + ": it is longer than 1024 bytes",
	} {
		_, err := basefiles.Choose(ctx, at(plant(t, named(name))))
		wantFault(t, err, failure.CodeInvalidFile, reason)
	}
	wantPaths(t, choose(t, at(plant(t, named(long(1024-2)+"/x")))), long(1024-2)+"/x")
}

// long is a path of n bytes.
func long(n int) string {
	path := strings.Repeat(strings.Repeat("d", 99)+"/", n/100+1)[:n]
	return strings.TrimSuffix(path, "/") + strings.Repeat("d", n-len(strings.TrimSuffix(path, "/")))
}

func TestChoose_AllowsInvalidPathWhenExcluded(t *testing.T) {
	root := plant(t, map[string]string{".toolignore": "x*", "x\xff": "1", "x\\": "1", "x\n/a": "1", "xA": "1", "xa": "1",
		"b": ""})
	o := at(root)
	o.ListSkipped = true
	s := choose(t, o)
	wantPaths(t, s, ".toolignore", "b")
	if len(s.Skipped) != 5 || s.Skipped[4].Path != "x\ufffd" {
		t.Errorf("skipped %q", s.Skipped)
	}
}

func TestChoose_LimitErrorNamesFileAndNumber(t *testing.T) {
	root := plant(t, named("a", "big file"))
	must(t, os.Truncate(filepath.Join(root, "big file"), basefiles.UsualLimits.BaseFileBytes))
	choose(t, at(root))
	must(t, os.Truncate(filepath.Join(root, "big file"), basefiles.UsualLimits.BaseFileBytes+1))
	_, err := basefiles.Choose(ctx, at(root))
	wantFault(t, err, wire.CodeTooLarge, `"big file" is too large: it is 25.1 MiB, and a file may be at most 25 MiB`)

	root = plant(t, named("a"))
	for i := range 41 {
		name := filepath.Join(root, fmt.Sprint("sparse", i))
		write(t, name, "")
		must(t, os.Truncate(name, basefiles.UsualLimits.BaseFileBytes))
	}
	_, err = basefiles.Choose(ctx, at(root))
	e := wantFault(t, err, wire.CodeTooLarge,
		"the 42 selected files are 1025.1 MiB together, and a file set may be at most 1024 MiB")
	if want := "exclude it in .toolignore; the largest is sparse"; !strings.HasPrefix(e.Hint, want) {
		t.Errorf("hint %q, want %q…", e.Hint, want)
	}
}

func TestChoose_LimitsFileCount(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	root, one := t.TempDir(), filepath.Join(t.TempDir(), "one")
	write(t, one, "content")
	for i := range basefiles.UsualLimits.BaseFiles {
		name := filepath.Join(root, fmt.Sprintf("data/%d/%d", i/500, i))
		if i%500 == 0 {
			must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		}
		must(t, os.Link(one, name)) // much faster than a file for each
	}
	if s := choose(t, at(root)); len(s.Files) != basefiles.UsualLimits.BaseFiles || !slices.IsSorted(paths(s)) {
		t.Errorf("%d files, sorted: %v", len(s.Files), slices.IsSorted(paths(s)))
	}
	write(t, filepath.Join(root, "src/one"), "more")
	_, err := basefiles.Choose(ctx, at(root))
	e := wantFault(t, err, wire.CodeTooLarge, "more than 20000 files are selected, the most that a file set may contain")
	if e.Hint != "exclude it in .toolignore; data contains most of them" {
		t.Errorf("hint %q", e.Hint)
	}
	write(t, filepath.Join(root, ".toolignore"), "data/1*/\n")
	if s := choose(t, at(root)); len(s.Files) != basefiles.UsualLimits.BaseFiles-11*500+2 {
		t.Errorf("%d files without 11 of 40 directories", len(s.Files))
	}
}

func TestChoose_UnreadableToolignoreFails(t *testing.T) {
	outside := plant(t, named("rules"))
	for reason, put := range map[string]func(name string) error{
		"path escapes from parent": func(name string) error {
			return os.Symlink(filepath.Join(outside, "rules"), name)
		},
		"it is a broken link": func(name string) error { return os.Symlink("rules", name) },
		"it is not a file":    func(name string) error { return os.Mkdir(name, 0o777) },
		"it is larger than 256 KiB": func(name string) error {
			return os.WriteFile(name, make([]byte, 256<<10+1), 0o666)
		},
		"too many levels of symbolic links": func(name string) error { return os.Symlink(".toolignore", name) },
	} {
		root := plant(t, named("app/a"))
		must(t, put(filepath.Join(root, "app/.toolignore")))
		_, err := basefiles.Choose(ctx, basefiles.Options{Workspace: root, Root: filepath.Join(root, "app")})
		wantFault(t, err, failure.CodeInvalidFile, "read app/.toolignore: "+reason)
	}
}

func TestChoose_AllowsSymlinkedToolignoreInsideWorkspace(t *testing.T) {
	root := plant(t, map[string]string{"app/a.ts": "", "app/b.md": "", "rules": "*.md"})
	link(t, "../rules", filepath.Join(root, "app/.toolignore"))
	s := choose(t, basefiles.Options{Workspace: root, Root: filepath.Join(root, "app")})
	wantPaths(t, s, "a.ts")
	if s.Links != 1 {
		t.Errorf("%d links, want the .toolignore", s.Links)
	}
}

func TestChoose_StopsWhenCancelled(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	root := plant(t, named("a"))
	if _, err := basefiles.Choose(cancelled, at(root)); !errors.Is(err, context.Canceled) {
		t.Errorf("Choose: %v", err)
	}
	if _, err := choose(t, at(root)).Hash(cancelled, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Hash: %v", err)
	}
}

func TestChoose_IgnoresFilesRemovedMeanwhile(t *testing.T) {
	root := plant(t, named("stays", "dir/stays"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 500 {
			name := filepath.Join(root, "dir", fmt.Sprint("f", i%20))
			os.WriteFile(name, nil, 0o666)
			os.Mkdir(name+"d", 0o777)
			os.Remove(name)
			os.Remove(name + "d")
		}
	}()
	for {
		if _, err := basefiles.Choose(ctx, at(root)); err != nil {
			t.Error(err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// Random trees, and rules that a .gitignore holds after the built-in ones.
func TestChoose_AgreesWithGit(t *testing.T) {
	need(t, "git")
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "c.log", "dist", "src", "node_modules", "x y", ".env", ".env.example", "keep",
		"caf\u00e9", "a.tmp", "out"}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	patterns := []string{"a", "/b", "*.tmp", "!keep", "!*.log", "src/*", "!src/a", "**/out/", "!dist/", "x\\ y",
		"[a-b]/", "**/src/**/b", "!node_modules/a", "caf*"}
	for range 40 {
		files := map[string]string{}
		for range 60 {
			name := pick(names)
			for range r.IntN(5) {
				name += "/" + pick(names)
			}
			files[name] = ""
		}
		for name := range files { // what is a directory of another file is none itself
			for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
				delete(files, dir)
			}
		}
		var rules strings.Builder
		for range r.IntN(6) {
			rules.WriteString(pick(patterns) + "\n")
		}
		files[".toolignore"] = rules.String() + "#"
		root := plant(t, files)
		chosen := choose(t, at(root))

		git(t, root, "init", "-q")
		builtIn, err := os.ReadFile("built-in.gitignore")
		must(t, err)
		write(t, filepath.Join(root, ".git/info/exclude"), string(builtIn)+rules.String())
		want := strings.Split(strings.TrimSuffix(git(t, root, "ls-files", "-o", "-z", "--exclude-standard"), "\x00"), "\x00")
		slices.Sort(want)
		if diff := cmp.Diff(want, paths(chosen)); diff != "" {
			t.Fatalf("rules %q (-git +ours):\n%s", rules.String(), diff)
		}
	}
}
