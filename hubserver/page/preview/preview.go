// Package preview is the frame in which the hub's page shows an app: a static document of
// opaque origin, the program that runs in it, and the packages that an app may import. The
// program's sources are in src, and build.mjs makes dist of them.
//
// It knows no project, no caller and no route: all that the frame shows is sent to it by
// the page around it. It imports nothing of the hub's, because tool serves the same frame.
package preview

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
)

//go:embed frame.html
var frame string

//go:embed dist/frame.js.gz
var script []byte

//go:embed dist/packages.json.gz
var packages []byte

// sources is the digest of what both are built from.
//
//go:embed dist/SOURCES
var sources string

// File is a static file, whose name changes with its content.
type File struct {
	Name    string
	Gzipped []byte
	Content func() []byte // the file without compression; all callers share the bytes
}

// newFile returns a file that is inflated once, at the first call of Content: inflated for each
// request, a few hundred responses to slow readers would fill the memory.
func newFile(name string, gzipped []byte) File {
	return File{name, gzipped, sync.OnceValue(func() []byte {
		z, err := gzip.NewReader(bytes.NewReader(gzipped))
		if err != nil {
			panic(err) // it is embedded
		}
		content, err := io.ReadAll(z)
		if err != nil {
			panic(err)
		}
		return content
	})}
}

// Script is the frame's program. The preview host serves it, as /static/NAME.
var Script = newFile("preview-"+sources[:12]+".js", script)

// Packages is the JSON of the packages that an app may import. The hub's own host serves
// it, as /static/NAME.
var Packages = newFile("packages-"+sources[:12]+".json", packages)

// Frame returns the document of the frame, the same for everyone.
func Frame() []byte { return []byte(strings.ReplaceAll(frame, "{{.}}", Script.Name)) }

// Policy returns the frame's Content-Security-Policy. own is the origin of the preview
// host, hub that of the page around it.
func Policy(own, hub string) string {
	return "sandbox allow-scripts; default-src 'none'; " +
		"script-src 'unsafe-inline' 'unsafe-eval' blob: data: " + own + "/static/" + Script.Name + "; " +
		"style-src 'unsafe-inline'; img-src blob: data:; font-src blob: data:; media-src blob: data:; " +
		"worker-src blob:; child-src blob:; " +
		"frame-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'; webrtc 'block'; " +
		"frame-ancestors " + hub
}
