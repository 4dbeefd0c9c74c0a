package golden_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "example.com/projecthub/"

// pkg is a package of the module, as go list tells of it.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// name is the import path within the module.
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// within reports whether p is one of names, or lies below one that ends in /.
func (p pkg) within(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return p.name() == strings.TrimSuffix(n, "/") || strings.HasSuffix(n, "/") && strings.HasPrefix(p.name(), n)
	})
}

// goList runs go list as on Linux, whatever runs the test.
func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	c := exec.Command("go", append([]string{"list"}, args...)...)
	c.Dir, c.Env = "..", append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, err.(*exec.ExitError).Stderr)
	}
	return out
}

func packages(t *testing.T) []pkg {
	t.Helper()
	var all []pkg
	for decoder := json.NewDecoder(
		bytes.NewReader(goList(t, "-json=ImportPath,Imports,TestImports,XTestImports", "./..."))); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// A new edge between two packages is a line of this file that somebody reads.
func TestImports_MatchList(t *testing.T) {
	var edges []string
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			if to, ok := strings.CutPrefix(imported, module); ok {
				edges = append(edges, p.name()+" -> "+to+"\n")
			}
		}
	}
	slices.Sort(edges)
	golden(t, "imports.golden", strings.Join(edges, ""))
}

func TestImports_LibrariesStayInTheirPackages(t *testing.T) {
	all := packages(t)
	for _, rule := range []struct {
		library string   // or what is below it
		rooms   []string // packages, or with a slash all below one
	}{
		{"github.com/charmbracelet/bubbletea", []string{"tui/", "prompts/"}},
		{"github.com/charmbracelet/bubbles", []string{"tui/", "prompts/"}},
		{"github.com/charmbracelet/huh", []string{"tui/", "prompts/"}},
		{"github.com/charmbracelet/lipgloss", []string{"tui/", "prompts/"}},
		{"github.com/uptrace/bun", []string{"store/"}},
		{"modernc.org/sqlite", []string{"store/"}},
		{"github.com/jackc/pgx", []string{"store/"}},
		{"github.com/julienschmidt/httprouter", []string{"hubserver/"}},
		{"github.com/getkin/kin-openapi", []string{"hubserver/"}},
		{"github.com/fsnotify/fsnotify", []string{"cmd/tool/internal/watcher"}},
		// term removes secrets; the others are never installed
		{"os/exec", []string{"cmd/tool/internal/term", "cmd/demo", "cmd/tool/release", "store/storetest",
			"hubserver/page/preview/previewtest"}},
		{"github.com/spf13/cobra", []string{"cmd/internal/cmdline", "cmd/tool/internal/cli", "cmd/tool/internal/app/",
			"cmd/tool/internal/command/", "cmd/tool/release", "cmd/hub"}},
	} {
		for _, p := range all {
			for _, imported := range p.Imports {
				if (imported == rule.library || strings.HasPrefix(imported, rule.library+"/")) && !p.within(rule.rooms...) {
					t.Errorf("%s imports %s, which is for %v", p.name(), imported, rule.rooms)
				}
			}
		}
	}
}

// Whom a package of ours may import. One that is not named here may import any.
var mayImport = []struct {
	from string
	to   []string
}{
	{"golden", nil},
	{"hubclient/", []string{"hubclient/"}},
	{"store/sqldb", nil}, // it knows no table
	{"store/", []string{"store/", "hubclient/ref", "hubclient/flat", "hubclient/tree", "hubclient/version"}},
	{"hubserver/request", []string{"hubserver/fetch", "store", "hubclient/ref", "hubclient/wire", "hubclient/pat"}},
	{"hubserver/api", []string{
		"hubserver/request", "hubserver/fetch", "hubserver/fileschema", "hubserver/schema", "store",
		"hubclient/description", "hubclient/ref", "hubclient/wire", "hubclient/flat", "hubclient/tree", "hubclient/pat",
		"hubclient/secret", "hubclient/stackmanifest", "hubclient/version",
	}},
	{"hubserver/", []string{"hubserver/", "store", "hubclient/ref", "hubclient/wire", "hubclient/flat", "hubclient/tree",
		"hubclient/pat", "hubclient/secret", "hubclient/stackmanifest", "hubclient/version", "hubclient/description"}},
	{"prompts", []string{"hubclient/ref", "hubclient/wire", "hubclient/flat", "tui", "tui/escape"}},
	{"tui", []string{"hubclient/ref", "hubclient/wire", "hubclient/flat", "hubclient/pat", "hubclient/secret",
		"tui/escape", "tui/quiet"}},
	{"tui/escape", []string{"hubclient/pat", "hubclient/tree"}}, // tree says which characters nothing may hold
	{"tui/quiet", nil},
	{"cmd/internal/cmdline", nil},
	{"cmd/tool/internal/failure", []string{"cmd/internal/cmdline", "hubclient", "hubclient/ref", "hubclient/wire",
		"hubclient/flat"}},
	{"cmd/tool", []string{"cmd/tool/internal/cli", "cmd/tool/internal/term"}},
}

func TestImports_FollowRules(t *testing.T) {
	for _, p := range packages(t) {
		imports := p.Imports
		if p.name() == "golden" {
			imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		}
		for _, imported := range imports {
			to, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			for _, rule := range mayImport {
				if p.within(rule.from) && !(pkg{ImportPath: imported}).within(rule.to...) {
					t.Errorf("%s may not import %s", p.name(), to)
				}
			}
			checkCommand(t, p, to)
			checkClient(t, p, to)
		}
	}
}

// previewFiles are the packages below hubserver that tool links: they embed the files with
// which a preview is shown, which must be the same on the hub's page and in
// tool preview --local, and import nothing.
var previewFiles = []string{"hubserver/page/preview", "hubserver/page/static"}

func TestImports_PreviewFilesImportNothing(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			if slices.Contains(previewFiles, p.name()) && strings.Contains(imported, ".") {
				t.Errorf("%s imports %s, which tool would link", p.name(), imported)
			}
		}
	}
}

const commandRoom = "cmd/tool/internal/command/"

// checkCommand keeps commands apart, and questions and drawing out of what they work with.
func checkCommand(t *testing.T, p pkg, to string) {
	t.Helper()
	if strings.HasPrefix(to, commandRoom) && !p.within("cmd/tool/internal/cli") {
		t.Errorf("%s imports %s: only cli sees commands", p.name(), to)
	}
	if p.within(commandRoom, "cmd/tool/internal/app/") && to == "cmd/tool/internal/cli" {
		t.Errorf("%s imports cli", p.name())
	}
	asks := p.within(commandRoom, "cmd/tool/internal/app/", "cmd/tool/internal/cli")
	if p.within("cmd/tool/") && !asks && (to == "prompts" || to == "tui") {
		t.Errorf("%s imports %s, which is for app and commands", p.name(), to)
	}
}

// checkClient keeps create and push from meeting, and the client from the server.
func checkClient(t *testing.T, p pkg, to string) {
	t.Helper()
	if p.within("cmd/tool/internal/app/apptest") { // which only tests import
		return
	}
	if slices.Contains(previewFiles, to) && p.within("cmd/tool/internal/command/preview") {
		return
	}
	if p.within("cmd/tool/", "hubclient/") && (pkg{ImportPath: to}).within("store/", "hubserver/") {
		t.Errorf("%s is of the client, and imports %s", p.name(), to)
	}
}

func TestImports_ToolLinksNoServerCode(t *testing.T) {
	deps := goList(t, "-deps", "./cmd/tool")
	for lines := bufio.NewScanner(bytes.NewReader(deps)); lines.Scan(); {
		if slices.Contains(previewFiles, strings.TrimPrefix(lines.Text(), module)) {
			continue
		}
		for _, banned := range []string{
			"github.com/uptrace/bun", "github.com/julienschmidt/httprouter", "github.com/getkin/kin-openapi",
			"github.com/jackc/pgx", "modernc.org/sqlite", module + "store", module + "hubserver",
		} {
			if dep := lines.Text(); dep == banned || strings.HasPrefix(dep, banned+"/") {
				t.Errorf("tool links %s", dep)
			}
		}
	}
}

func TestLayout_TopLevel(t *testing.T) {
	git := need(t, "git", "apt-get install git")
	c := exec.Command(git, "ls-files", "--cached", "--others", "--exclude-standard", "..")
	out, err := c.Output()
	if err != nil {
		t.Skip("needs a checkout by git")
	}
	known := strings.Fields("cmd tui prompts hubclient hubserver store golden go.mod go.sum README.md LICENSE")
	for line := range strings.Lines(string(out)) {
		top, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "../"), "/")
		if strings.HasPrefix(strings.TrimSpace(line), "../") && !strings.HasPrefix(top, ".") && !slices.Contains(known, top) {
			t.Errorf("%s stands at the top level", top)
		}
	}
}
