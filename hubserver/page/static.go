package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"example.com/projecthub/hubserver/page/static"
)

// served are the static files as browsers get them, by name.
var served = read(static.Files)

// digest names the present contents of all static files. It is part of their addresses,
// so that browsers may keep them, and the imports between scripts stay relative.
var digest = digestOf(served)

func read(all fs.FS) map[string][]byte {
	contents := map[string][]byte{}
	err := fs.WalkDir(all, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(all, name)
		if path.Ext(name) == ".js" {
			content = withoutComments(content)
		}
		contents[name] = content
		return err
	})
	if err != nil {
		panic(err) // they are embedded
	}
	return contents
}

// withoutComments empties the lines of a script that are comments, which are a fifth of
// what would be transferred. Line numbers stay as they are.
func withoutComments(script []byte) []byte {
	lines := bytes.Split(script, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("//")) {
			lines[i] = nil
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

func digestOf(contents map[string][]byte) string {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		sum := sha256.Sum256(contents[name])
		hash.Write([]byte(name + "\x00"))
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))[:digestLength]
}

const digestLength = 12

// StaticURL returns the address of a static file.
func StaticURL(name string) string { return "/static/" + digest + "/" + name }

// Static returns the file at an address below /static/, and whether the address names
// its present content, so that it never changes. An address of another release's file
// gets the present one.
func Static(address string) (name string, content []byte, immutable bool, err error) {
	of, rest, ok := strings.Cut(address, "/")
	if name = address; ok && isDigest(of) {
		name = rest
	}
	content, ok = served[name]
	if !ok {
		return name, nil, false, fs.ErrNotExist
	}
	return name, content, of == digest, nil
}

func isDigest(s string) bool {
	return len(s) == digestLength && strings.Trim(s, "0123456789abcdef") == ""
}
