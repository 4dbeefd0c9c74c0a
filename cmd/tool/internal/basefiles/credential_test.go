package basefiles_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gitHubToken is put together here, so that no scanner takes this file for a leak.
var gitHubToken = "ghp" + "_" + strings.Repeat("aB3", 12)

func TestHash_FindsCredentialsInTexts(t *testing.T) {
	const piece = 256 << 10 // as much as is read at a time
	for what, text := range map[string]string{
		"on line 1":   "const key = '" + gitHubToken + "'\n",
		"on line 3":   "a\nb\n" + gitHubToken,
		"on a border": strings.Repeat("0123456\n", piece/8)[:piece-16] + gitHubToken,
	} {
		s := choose(t, at(plant(t, map[string]string{"a.ts": text, "b.ts": "const key = process.env.KEY\n"})))
		for range 2 { // the cache does not take it for a file without one
			if _, err := s.Hash(ctx, nil); err != nil {
				t.Fatal(err)
			}
			if found := s.Files[0].Credential; !strings.HasPrefix(found, "a GitHub token on line ") {
				t.Errorf("%s: %q", what, found)
			}
			if found := s.Files[1].Credential; found != "" {
				t.Errorf("b.ts has %s", found)
			}
		}
	}
}

func TestCache_RecordsNoFileWithACredential(t *testing.T) {
	root := plant(t, map[string]string{"a.ts": gitHubToken, "b.ts": "b"})
	age(t, filepath.Join(root, "a.ts"), filepath.Join(root, "b.ts"))
	o := at(root)
	o.CacheDir = t.TempDir()
	for range 2 {
		s := choose(t, o)
		if _, err := s.Hash(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if s.Files[0].Credential == "" {
			t.Error("the credential of a.ts is not found")
		}
	}
	caches, err := filepath.Glob(filepath.Join(o.CacheDir, "*"))
	if err != nil || len(caches) != 1 {
		t.Fatal(caches, err)
	}
	text, err := os.ReadFile(caches[0])
	if err != nil || strings.Contains(string(text), "a.ts") || !strings.Contains(string(text), "b.ts") {
		t.Errorf("%v: %s", err, text)
	}
}
