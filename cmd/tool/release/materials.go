package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// component is a module in CycloneDX.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// billOfMaterials lists the modules that go built into a program, with their checksums, as
// CycloneDX JSON. The program itself says which they are, so that the list has neither
// more nor less. The time is RFC 3339.
func billOfMaterials(program, version, date string) ([]byte, error) {
	when, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var parts []component
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := module("library", m)
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(sum) != 32 {
			return nil, fmt.Errorf("%s has the checksum %q", m.Path, m.Sum)
		}
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
		parts = append(parts, c)
	}
	parts = append(parts, module("library", &debug.Module{Path: "std", Version: info.GoVersion}))
	own := module("application", &debug.Module{Path: info.Path, Version: version})
	return json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"timestamp": when.UTC().Format(time.RFC3339), "component": own},
		"components": parts,
	}, "", "  ")
}

func module(kind string, m *debug.Module) component {
	purl := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	return component{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
}
