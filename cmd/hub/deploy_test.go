package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// changed returns a text with words replaced, each of which it must have.
func changed(t *testing.T, text string, words ...string) string {
	t.Helper()
	for pair := range slices.Chunk(words, 2) {
		if !strings.Contains(text, pair[0]) {
			t.Fatalf("there is no %q", pair[0])
		}
		text = strings.ReplaceAll(text, pair[0], pair[1])
	}
	return text
}

func TestDeploy_VariablesAreFlagsOfServe(t *testing.T) {
	known := map[string]bool{"HUB_DOMAIN": true, "HUB_SITES": true,
		"HUB_UPSTREAMS": true} // of compose.yaml and the Caddyfile
	a := &app{out: io.Discard, err: io.Discard}
	serve, _, err := a.root().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	add := func(f *pflag.Flag) { known["HUB_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))] = true }
	serve.Flags().VisitAll(add)
	serve.InheritedFlags().VisitAll(add)
	for _, name := range []string{"hub.service", "hub.env", "Containerfile", "compose.yaml", "Caddyfile"} {
		for _, variable := range regexp.MustCompile(`HUB_[A-Z_]+`).FindAllString(deployed(t, name), -1) {
			if !known[variable] {
				t.Errorf("%s: hub serve has no flag for %s", name, variable)
			}
		}
	}
}

func TestDeploy_ImageRunsAsAUserWithoutAShell(t *testing.T) {
	lines := strings.Split(deployed(t, "Containerfile"), "\n")
	last := slices.IndexFunc(lines,
		func(l string) bool { return strings.HasPrefix(l, "FROM ") && strings.Contains(l, "distroless") })
	if last < 0 {
		t.Fatal("the image is not distroless")
	}
	image := lines[last:]
	if !slices.Contains(image, "USER 65532:65532") || !strings.HasSuffix(image[0], ":nonroot") {
		t.Errorf("the image runs as root: %q", image)
	}
	for _, line := range image {
		if strings.HasPrefix(line, "RUN ") || strings.HasPrefix(line, "FROM ") && line != image[0] {
			t.Errorf("%q needs a shell, or another stage", line)
		}
	}
}

func TestDeploy_ComposeFileIsWhole(t *testing.T) {
	type service struct {
		Image, User string
		ReadOnly    bool `yaml:"read_only"`
		Build       struct{ Context, Dockerfile string }
		Environment map[string]string
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		Volumes     []string
		Networks    any
	}
	var compose struct {
		Services map[string]service
		Volumes  map[string]any
		Networks map[string]any
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	for name, s := range compose.Services {
		if s.Image == "" || strings.HasSuffix(s.Image, ":latest") {
			t.Errorf("%s: the image is %q", name, s.Image)
		}
		for other := range s.DependsOn {
			if _, ok := compose.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is no service", name, other)
			}
		}
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			if _, ok := compose.Volumes[from]; ok {
				continue
			}
			if _, err := os.Stat(filepath.Join("deploy", from)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for variable, value := range s.Environment {
			if secret := strings.Contains(variable, "PASSWORD") || strings.Contains(variable, "KEY"); secret &&
				!strings.HasPrefix(value, "${") {
				t.Errorf("%s: %s is in the file", name, variable)
			}
		}
	}
	for _, name := range []string{"hub1", "hub2"} {
		hub := compose.Services[name]
		if !hub.ReadOnly || hub.Environment["HUB_DB"] == "" {
			t.Errorf("%s is %+v", name, hub)
		}
		if _, err := os.Stat(filepath.Join("deploy", hub.Build.Context, hub.Build.Dockerfile)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(compose.Services["proxy"].Environment["HUB_UPSTREAMS"], name+":4680") {
			t.Errorf("the proxy does not know %s", name)
		}
	}
}

func TestDeploy_SystemdUnitIsValidAndHardened(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("needs systemd-analyze: apt-get install systemd")
	}
	unit := filepath.Join(t.TempDir(), "hub.service")
	if err := os.WriteFile(unit, []byte(changed(t, deployed(t, "hub.service"), "=hub serve", "="+program+" serve")),
		0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--offline=yes", "--threshold=20",
		unit).CombinedOutput(); err != nil { // 2.0 of 10
		t.Errorf("%v: %s", err, out)
	}
}

func TestDeploy_PackagesCreateTheUserOfTheUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-sysusers"); err != nil {
		t.Skip("needs systemd-sysusers: apt-get install systemd")
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	config, err := filepath.Abs(filepath.Join("deploy", "sysusers.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-sysusers", "--root="+root, config).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	users, err := os.ReadFile(filepath.Join(root, "etc", "passwd"))
	if err != nil || !strings.HasPrefix(string(users), "hub:") || !strings.Contains(string(users), ":/var/lib/hub:") {
		t.Errorf("the users are %s, %v", users, err)
	}
	unit := deployed(t, "hub.service")
	if !strings.Contains(unit, "\nUser=hub\n") ||
		!strings.Contains(deployed(t, "postinstall.sh"), "systemd-sysusers hub.conf") {
		t.Errorf("the unit runs as another user, or the package does not create it:\n%s", unit)
	}
}
