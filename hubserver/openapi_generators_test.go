package hubserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/store/storetest"
)

// generators has the programs that generate clients from descriptions and lint them, pinned,
// and a program in each language that does the main job with what was generated.
const generators = "../.ci/generators"

// workshop is a directory in which clients of a hub are generated, compiled and run.
type workshop struct {
	*testHub
	dir string
}

// newWorkshop returns a directory with openapi.json as the hub serves it, an API to upload, a
// bundle to publish, and files of generators.
func newWorkshop(t *testing.T, files ...string) *workshop {
	t.Helper()
	takesLong(t)
	hub := one(t, nil)
	w := &workshop{hub, t.TempDir()}
	w.write("openapi.json", hub.with("").get("/v1/openapi.json").want(200).body)
	w.write("pets.json", []byte(pets))
	w.write("bundle.tgz", gzipped(t, tarOf(t, manifest("1.0.0"))))
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(generators, name))
		if err != nil {
			t.Fatal(err)
		}
		w.write(name, data)
	}
	return w
}

func (w *workshop) write(name string, data []byte) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), data, 0o644); err != nil {
		w.Fatal(err)
	}
}

// try runs a program in the directory. Without paths in the compiled code, go caches it.
func (w *workshop) try(program string, args ...string) (string, error) {
	c := exec.CommandContext(w.Context(), program, args...)
	c.Dir, c.Env = w.dir, append(os.Environ(), "GOFLAGS=-trimpath", "GOPROXY=off", "GOWORK=off", "REDOCLY_TELEMETRY=off")
	out, err := c.CombinedOutput()
	return string(out), err
}

func (w *workshop) run(program string, args ...string) string {
	w.Helper()
	out, err := w.try(program, args...)
	if err != nil {
		w.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// without skips the test, or fails it where skipping is forbidden.
func (w *workshop) without(need string) {
	w.Helper()
	if os.Getenv(storetest.RequireVariable) != "" {
		w.Fatal("needs ", need)
	}
	w.Skip("needs ", need)
}

// node makes the pinned programs of npm available in the directory.
func (w *workshop) node() {
	w.Helper()
	needPrograms(w, "node")
	modules, err := filepath.Abs(filepath.Join(generators, "node_modules"))
	if err != nil {
		w.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, ".bin", "tsc")); err != nil {
		w.without("the packages of .ci/generators: npm ci --prefix .ci/generators")
	}
	if err := os.Symlink(modules, filepath.Join(w.dir, "node_modules")); err != nil {
		w.Fatal(err)
	}
}

// mainJob runs a client, and checks what it did.
func (w *workshop) mainJob(program string, args ...string) {
	w.Helper()
	out := w.run(program, append(args, w.url, w.token("alice", "write:config", "write:catalog"))...)
	if want := `@acme/web {"site.pages":3,"site.title":"Pets"}` + "\n"; out != want {
		w.Errorf("%q, want %q", out, want)
	}
}

func TestOpenAPI_GeneratesGoClient(t *testing.T) {
	takesLong(t)
	w := newWorkshop(t, "go.mod", "go.sum", "main.go")
	const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"
	if out, err := w.try("go", "build", "-o", "oapi-codegen", generator); err != nil {
		w.without("the modules of .ci/generators: go -C .ci/generators mod download\n" + out)
	}
	if err := os.Mkdir(filepath.Join(w.dir, "hub"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.run("./oapi-codegen", "-package", "hub", "-generate", "models,client", "-o", "hub/hub.go", "openapi.json")
	w.run("go", "vet", "./...")
	w.run("go", "build", "-o", "client", ".")
	w.mainJob("./client")
}

func TestOpenAPI_GeneratesTypeScript(t *testing.T) {
	w := newWorkshop(t, "package.json", "main.ts")
	w.node()
	w.run("node_modules/.bin/openapi-typescript", "openapi.json", "--output", "hub.d.ts")
	w.run("node_modules/.bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "main.ts")
	w.mainJob("node", "main.js")
}

func TestOpenAPI_PassesLinters(t *testing.T) {
	w := newWorkshop(t, "redocly.yaml", ".spectral.yaml")
	w.node()
	out := w.run("node_modules/.bin/redocly", "lint", "--format", "json", "openapi.json") // fails for errors only
	if !strings.Contains(out, `"warnings": 0`) {
		t.Error(out)
	}
	w.run("node_modules/.bin/spectral", "lint", "--fail-severity", "hint", "openapi.json")
}
