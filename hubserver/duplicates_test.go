package hubserver_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
)

// repetitive returns a set of files in which few contents, an empty one among them,
// are repeated at distances of all sizes.
func repetitive(r *rand.Rand, contents []string) map[string]string {
	files := map[string]string{}
	for i := range 5 + r.IntN(30) {
		files[fmt.Sprintf("%02d", i)] = contents[r.IntN(len(contents))]
	}
	return files
}

// members are files in the order of their paths.
func members(files map[string]string) []file {
	var all []file
	for i := range 100 {
		path := fmt.Sprintf("%02d", i)
		if content, ok := files[path]; ok {
			all = append(all, file{name: path, content: content})
		}
	}
	return all
}

func TestBaseFiles_EqualAndEmptyFiles(t *testing.T) {
	takesLong(t)
	contents := []string{"", "", "a", "b"}
	for _, content := range noisy(6, 200<<10) {
		contents = append(contents, content)
	}
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, r := hub.as("alice"), rand.New(rand.NewPCG(1, 2))
		for n := range 6 {
			files := repetitive(r, contents)
			// Each set starts without stored contents, and with those of the set before.
			for _, stored := range []string{"nothing", "the set before"} {
				if stored == "nothing" {
					hub.sql("DELETE FROM blobs")
				}
				got := decoded[wire.BaseFilesWritten](alice.put(baseFiles, archive(t, members(files)...)).want(200))
				if want := treeOf(t, files).Digest(); got.Tree != want {
					t.Errorf("set %d, %s: tar: the tree is %s, want %s", n, stored, got.Tree, want)
				}
				hub.wantFiles(files)
				before := files
				files = repetitive(r, contents)
				from, to := treeOf(t, before), treeOf(t, files)
				p := decoded[wire.PlannedBaseFiles](alice.post(plan, question(to)).want(200))
				alice.put(baseFiles+"?base="+from.Digest(), patchOf(t, from, to, missing(p, files)...)).want(200)
				hub.wantFiles(files)
				files = repetitive(r, contents)
				alice.push(files)
				hub.wantFiles(files)
			}
		}
	})
}

func TestPublish_EqualAndEmptyFiles(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 10 {
			version := fmt.Sprintf("1.0.%d", n)
			files := members(repetitive(r, []string{"", "", "a", strings.Repeat("b", 600<<10)}))
			b := bundle(t, version, files...)
			got := decoded[wire.Published](hub.as("alice").put(site+"/versions/"+version, b).want(201))
			if got.FileCount != len(files)+1 {
				t.Errorf("%s has %d files, want %d", version, got.FileCount, len(files)+1)
			}
			sent := map[string]string{"stack.json": manifest(version).content}
			for _, f := range files {
				sent[f.name] = f.content
			}
			stored := map[string]string{}
			r := tar.NewReader(bytes.NewReader(hub.as("rita").get(site + "/versions/" + version + "/bundle").want(200).body))
			for h, err := r.Next(); err == nil; h, err = r.Next() {
				content, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				stored[h.Name] = string(content)
			}
			if !maps.Equal(stored, sent) {
				t.Errorf("%s: the bundle is not what was published", version)
			}
		}
	})
}
