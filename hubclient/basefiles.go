package hubclient

import (
	"context"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// BaseFiles returns the set of base files that a project holds; nil when none was
// pushed. Its files are a [tree.Tree] with the digest that it names.
func (c *Client) BaseFiles(ctx context.Context, r ref.Ref) (*wire.BaseFiles, error) {
	var set wire.BaseFiles
	_, err := c.send(ctx, to(wire.OpGetBaseFiles, r), &set)
	if HasCode(err, wire.CodeNotFound) {
		// The project or its set: only the former is a failure.
		_, err := c.Project(ctx, r)
		return nil, err
	}
	return &set, err
}

// FileSet is a set of base files on its way to a hub.
type FileSet struct {
	Snapshot tree.Snapshot // its Digest may be empty
	Open     Opener        // may be called by several goroutines
	Base     tree.Base     // what the hub probably stores; only a delta to it is sent

	// OnProgress, if not nil, receives how many files and bytes the hub has so far,
	// including what it had before the push. Neither number decreases.
	OnProgress func(files int, bytes int64)
}

// plan asks what a push of the set that a manifest, in JSON, names would have to
// bring. What is not missing then is kept for the push.
func (c *Client) plan(ctx context.Context, r ref.Ref, manifest []byte) (*wire.Plan, error) {
	req := to(wire.OpPlanBaseFiles, r)
	req.set("Content-Type", "application/json")
	if n := len(manifest); n > compressNear || n > compressAbove && !c.near() {
		req.set("Content-Encoding", "zstd")
		manifest = compress(manifest)
	}
	req.bytesBody(manifest)
	var plan wire.Plan
	_, err := c.send(ctx, req, &plan)
	return &plan, err
}

// near reports that the hub is on this machine: compressing costs more than it spares.
func (c *Client) near() bool { return loopbackName(c.base.Hostname()) }

// Above which size a plan is compressed, in bytes; for a hub on this machine, which
// may be one behind a tunnel after all, above the latter.
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

// PutBaseFiles replaces the base files of an existing project. It sends what the
// hub does not have: when it knows what the hub holds and little differs, at once;
// else it asks first.
func (c *Client) PutBaseFiles(ctx context.Context, r ref.Ref, files FileSet) (*wire.BaseFilesWritten, error) {
	return c.newPush(r, files, nil).run(ctx)
}

// SeedBaseFiles gives a project that was just made its first base files. The hub
// refuses them where somebody else was faster.
func (c Created) SeedBaseFiles(ctx context.Context, files FileSet) (*wire.BaseFilesWritten, error) {
	return c.client.newPush(c.project.Project, files, map[string]string{"If-None-Match": "*"}).run(ctx)
}
