package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/hubserver/page/static"
	"example.com/projecthub/hubserver/request"
)

const digestLength = 12

// served returns the static files as browsers get them, by name. The digest names their present contents:
// it is part of their addresses, so that browsers may keep them, and the imports between scripts stay
// relative.
var served = sync.OnceValues(func() (contents map[string][]byte, digest string) {
	contents = map[string][]byte{}
	hash := sha256.New()
	err := fs.WalkDir(static.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(static.Files, name)
		contents[name] = content
		fmt.Fprintf(hash, "%s\x00%x", name, sha256.Sum256(content))
		return err
	})
	if err != nil {
		panic(err) // they are embedded
	}
	return contents, hex.EncodeToString(hash.Sum(nil))[:digestLength]
})

// StaticURL returns the address of a static file.
func StaticURL(name string) string {
	_, digest := served()
	return "/static/" + digest + "/" + name
}

// Static returns the file at an address below /static/, nil for none, and whether the address names
// its present content, so that it never changes. An address of another release's file gets the present one.
func Static(address string) (name string, content []byte, isCurrent bool) {
	of, rest, ok := strings.Cut(address, "/")
	if name = address; ok && len(of) == digestLength && strings.Trim(of, "0123456789abcdef") == "" {
		name = rest
	}
	contents, digest := served()
	return name, contents[name], of == digest
}

// mediaTypes are those of the static files, by extension.
var mediaTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// immutable is the Cache-Control of an address whose content never changes.
const immutable = "public, max-age=31536000, immutable"

// getStatic serves the files that pages refer to.
func getStatic(c *request.Call) error {
	address := strings.TrimPrefix(c.Param("file"), "/")
	header := c.W.Header()
	if address == preview.Packages.Name {
		header.Set("Content-Security-Policy", Policy(c.Hub.PreviewURL))
		header.Set("Cache-Control", immutable)
		sendFile(c, preview.Packages, "application/json")
		return nil
	}
	name, file, isCurrent := Static(address)
	if file == nil {
		return request.NotFound("file " + c.R.URL.Path)
	}
	header.Set("Content-Security-Policy", Policy(c.Hub.PreviewURL))
	header.Set("Cache-Control", "no-cache")
	if isCurrent {
		header.Set("Cache-Control", immutable)
	}
	c.Send(http.StatusOK, mediaTypes[path.Ext(name)], c.CompressStatic(name, file))
	return nil
}

// getLLMs serves the list of guides for language models, as llmstxt.org describes it.
func getLLMs(c *request.Call) error {
	const name = "llms.txt"
	_, file, _ := Static(name)
	c.Send(http.StatusOK, mediaTypes[path.Ext(name)], c.CompressStatic(name, file))
	return nil
}

// sendFile responds with a file that is compressed already.
func sendFile(c *request.Call, f preview.File, mediaType string) {
	header := c.W.Header()
	header.Set("Vary", "Accept-Encoding")
	if c.Accepts("gzip") {
		header.Set("Content-Encoding", "gzip")
		c.Send(http.StatusOK, mediaType, f.Gzipped)
		return
	}
	c.Send(http.StatusOK, mediaType, f.Content())
}
