// Package previewmodule checks what a stack's manifest says about its preview: the member
// "preview" of stack.json, and that the module which it names is in the bundle with all that
// it imports. It runs nothing.
package previewmodule

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/tree"
)

// Contract is the version of the contract between a module and the preview.
const Contract = 1

// MaxBytes is the size of a module with everything that it imports.
const MaxBytes = 2 << 20

// Preview is the member "preview" of a stack.json.
type Preview struct {
	Module   string `json:"module"` // its path in the bundle
	Contract int    `json:"contract"`
}

// Parse returns what a stack.json says about the preview, nil if it says nothing.
func Parse(manifest []byte) (*Preview, error) {
	var found struct {
		Preview *Preview `json:"preview"`
	}
	if err := json.Unmarshal(manifest, &found); err != nil {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	p := found.Preview
	if p == nil {
		return nil, nil
	}
	switch {
	case p.Contract != Contract:
		return nil, fmt.Errorf("preview.contract must be %d, not %d", Contract, p.Contract)
	case tree.CheckPath(p.Module) != nil || !isScript(p.Module):
		return nil, fmt.Errorf("preview.module must be the path of a .ts or .js file in the bundle, not %q", p.Module)
	}
	return p, nil
}

func isScript(name string) bool { return slices.Contains([]string{".ts", ".js"}, path.Ext(name)) }

// ImportError is an import of a module that the preview cannot follow.
type ImportError struct {
	File   string
	Line   int
	Import string
	Reason string
}

func (e *ImportError) Error() string {
	return fmt.Sprintf("%s:%d imports %q, %s", e.File, e.Line, e.Import, e.Reason)
}

// Check reads the module and everything that it imports. has reports whether the bundle has
// a file, and read returns its content. The error is an *ImportError or that of read.
func (p *Preview) Check(has func(path string) bool, read func(path string) ([]byte, error)) error {
	if !has(p.Module) {
		return fmt.Errorf("preview.module names %s, which is not in the bundle", p.Module)
	}
	seen, queue, size := map[string]bool{p.Module: true}, []string{p.Module}, 0
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		text, err := read(file)
		if err != nil {
			return err
		}
		if size += len(text); size > MaxBytes {
			return fmt.Errorf("%s is larger than %d MiB with what it imports", p.Module, MaxBytes>>20)
		}
		if !isScript(file) {
			continue
		}
		for _, i := range imports(string(text)) {
			found, err := resolve(file, i.name, has)
			if err != nil {
				return &ImportError{file, i.line, i.name, err.Error()}
			}
			if !seen[found] {
				seen[found] = true
				queue = append(queue, found)
			}
		}
	}
	return nil
}

var endings = []string{"", ".ts", ".js", ".json", "/mod.ts", "/index.ts", "/index.js"}

// resolve returns the file that an import names, as the preview does.
func resolve(importer, name string, has func(string) bool) (string, error) {
	if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		return "", errors.New("but a stack's module imports only relative paths")
	}
	target := path.Join(path.Dir(importer), name)
	for _, e := range endings {
		if file := target + e; (isScript(file) || path.Ext(file) == ".json") && has(file) {
			return file, nil
		}
	}
	if written, ok := strings.CutSuffix(target, ".js"); ok && has(written+".ts") {
		return written + ".ts", nil
	}
	return "", errors.New("which is not in the bundle as a .ts, .js or .json file")
}
