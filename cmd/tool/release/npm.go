package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

//go:embed npm.js
var launcher []byte

// manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Repository  string            `json:"repository,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Unplugged   bool              `json:"preferUnplugged,omitempty"` // Yarn keeps the program in a file
}

// artifact is what goreleaser lists in artifacts.json.
type artifact struct {
	Path   string `json:"path"` // relative to the directory of the project
	GOOS   string `json:"goos"`
	GOARCH string `json:"goarch"`
	Type   string `json:"type"`
	Extra  struct{ ID string }
}

// packages writes npm packages into dir: one for each system that dist has a program for, and
// the one that people install, dir/tool, which depends on all of them optionally. None runs a
// script when it is installed. The name is that of the last one, such as @acme/tool.
func packages(version, name, dist, dir string) error {
	text, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return err
	}
	var artifacts []artifact
	if err := json.Unmarshal(text, &artifacts); err != nil {
		return err
	}
	m := manifest{
		Name: name, Version: version,
		Description: "Keep the settings of a generated app in a repository, and push them to a hub",
		Bin:         map[string]string{"tool": "tool.js"}, Engines: map[string]string{"node": ">=18"},
		Optional: map[string]string{},
	}
	if repository := os.Getenv("GITHUB_REPOSITORY"); repository != "" {
		m.Repository = "github:" + repository
	}
	for _, a := range artifacts {
		if a.Type != "Binary" || a.Extra.ID != "tool" {
			continue
		}
		system, cpu := nodeName(a.GOOS), nodeName(a.GOARCH)
		suffix := "-" + system + "-" + cpu
		m.Optional[name+suffix] = version
		program, err := os.ReadFile(filepath.Join(filepath.Dir(dist), a.Path))
		if err != nil {
			return err
		}
		ofSystem := manifest{
			Name: name + suffix, Version: version, Repository: m.Repository, OS: []string{system}, CPU: []string{cpu},
			Description: fmt.Sprintf("The program of %s for %s on %s", name, system, cpu), Unplugged: true,
		}
		err = writePackage(filepath.Join(dir, "tool"+suffix), ofSystem, path.Join("bin", path.Base(a.Path)), program)
		if err != nil {
			return err
		}
	}
	if len(m.Optional) == 0 {
		return fmt.Errorf("%s lists no program of tool", filepath.Join(dist, "artifacts.json"))
	}
	return writePackage(filepath.Join(dir, "tool"), m, "tool.js", launcher)
}

// nodeName returns the name that Node.js has for an operating system or an architecture of Go.
func nodeName(name string) string {
	switch name {
	case "windows":
		return "win32"
	case "amd64":
		return "x64"
	}
	return name
}

// writePackage writes a package of one executable file.
func writePackage(dir string, m manifest, file string, content []byte) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	file = filepath.Join(dir, file)
	return errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(filepath.Join(dir, "package.json"), append(text, '\n'), 0o644),
		os.WriteFile(file, content, 0o755),
	)
}
