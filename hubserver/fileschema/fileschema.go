// Package fileschema has the JSON Schemas of the files in .tool, for editors. What the files
// mean is the client's to know.
package fileschema

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
)

//go:embed *.json
var files embed.FS

// File is a schema with its digest.
type File struct {
	Text   []byte
	SHA256 string
}

// Get returns the schema of the files called name, such as client.json; ok is false if there
// is none.
func Get(name string) (f File, ok bool) {
	text, err := files.ReadFile(name)
	if err != nil {
		return File{}, false
	}
	sum := sha256.Sum256(text)
	return File{text, hex.EncodeToString(sum[:])}, true
}
