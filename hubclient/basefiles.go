package hubclient

import (
	"context"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// BaseFiles returns the base files of a project; nil if none were pushed. Its Files are
// a [tree.Tree] with the digest Tree.
func (c *Client) BaseFiles(ctx context.Context, r ref.Ref) (*wire.BaseFiles, error) {
	var set wire.BaseFiles
	_, err := c.send(ctx, to(wire.OpGetBaseFiles, r), &set)
	if HasCode(err, wire.CodeNotFound) {
		// Either the project or its base files do not exist; only the former is an error.
		_, err := c.Project(ctx, r)
		return nil, err
	}
	return &set, err
}

// FileSet is a file set to upload.
type FileSet struct {
	Snapshot tree.Snapshot // its Digest may be empty
	Open     Opener        // may be called by several goroutines
	Base     tree.Base     // what the hub probably stores; only a delta to it is sent

	// OnProgress, if not nil, receives how many files and bytes the hub has so far,
	// including what it had before the push. Neither number decreases.
	OnProgress func(files int, bytes int64)
}

// plan asks which blobs a push of this manifest, in JSON, has to upload. The hub gives a
// lease on the others.
func (c *Client) plan(ctx context.Context, r ref.Ref, manifest []byte) (*wire.Plan, error) {
	req := to(wire.OpPlanBaseFiles, r)
	req.set("Content-Type", "application/json")
	if n := len(manifest); n > compressNear || n > compressAbove && !c.near() {
		req.set("Content-Encoding", "zstd")
		manifest = compress(manifest)
	}
	req.bytesBody(manifest)
	return result[wire.Plan](ctx, c, req)
}

// near reports whether the hub runs on this machine, where compressing costs more than
// it saves.
func (c *Client) near() bool { return loopbackName(c.base.Hostname()) }

// A plan request above this many bytes is compressed. A hub on this machine may be
// behind a tunnel, so very large requests to it are compressed, too.
const (
	compressAbove = 4 << 10
	compressNear  = 4 << 20
)

func compress(data []byte) []byte {
	var b []byte
	for part := data; len(part) > 0; part = part[min(len(part), frame.Size):] {
		b = frame.Append(b, part[:min(len(part), frame.Size)])
	}
	return b
}

// PutBaseFiles replaces the base files of an existing project. It uploads the blobs that
// the hub does not have. It asks for a plan first, unless little changed since files.Base.
func (c *Client) PutBaseFiles(ctx context.Context, r ref.Ref, files FileSet) (*wire.BaseFilesWritten, error) {
	return c.newPush(r, files, nil).run(ctx)
}

// ReplaceBaseFiles is PutBaseFiles if the project's present tree is current, "" for none.
// Otherwise the error is revision_changed, or set_exists.
func (c *Client) ReplaceBaseFiles(ctx context.Context, r ref.Ref, files FileSet, current string) (*wire.BaseFilesWritten, error) {
	condition := map[string]string{"If-None-Match": "*"}
	if current != "" {
		condition = map[string]string{"If-Match": `"` + current + `"`}
	}
	return c.newPush(r, files, condition).run(ctx)
}

// SeedBaseFiles uploads the first base files of a project that was just created. The hub
// refuses them if the project already has some.
func (c Created) SeedBaseFiles(ctx context.Context, files FileSet) (*wire.BaseFilesWritten, error) {
	return c.client.newPush(c.project.Project, files, map[string]string{"If-None-Match": "*"}).run(ctx)
}
