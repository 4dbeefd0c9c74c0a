// Package sample has a small app with its stack, a pet store, which init creates and the demo
// shows.
package sample

import (
	"embed"
	"io/fs"
)

//go:embed all:petstore
var files embed.FS

// PetStore returns the files of a workspace with one local project, web.
func PetStore() fs.FS {
	petStore, err := fs.Sub(files, "petstore")
	if err != nil {
		panic(err) // the name is valid
	}
	return petStore
}
