package hubclient

import (
	"context"

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
	Base     tree.Base     // what the hub probably stores, so that only changes are sent

	// All sends each blob, also those that the hub has, which replaces damaged ones. A
	// conditional push ignores it.
	All bool

	// OnProgress, if not nil, receives how many files and bytes the hub has so far,
	// including what it had before the push. Neither number decreases.
	OnProgress func(files int, bytes int64)
}

// planBaseFiles asks which of the digests the project lacks, and whether it has the tree.
func (c *Client) planBaseFiles(ctx context.Context, r ref.Ref, p wire.PlanBaseFiles) (*wire.PlannedBaseFiles, error) {
	req := to(wire.OpPlanBaseFiles, r)
	if err := req.jsonBody(p); err != nil {
		return nil, err
	}
	return result[wire.PlannedBaseFiles](ctx, c, req)
}

// PutBaseFiles replaces the base files of an existing project. It uploads the blobs that
// the hub does not have. It asks for a plan first, unless little changed since files.Base.
func (c *Client) PutBaseFiles(ctx context.Context, r ref.Ref, files FileSet) (*wire.BaseFilesWritten, error) {
	return c.newPush(r, files, nil).run(ctx)
}

// ReplaceBaseFiles is PutBaseFiles if the project's present tree is current, "" for none.
// Otherwise the error is revision_changed, or set_exists.
func (c *Client) ReplaceBaseFiles(
	ctx context.Context, r ref.Ref, files FileSet, current string,
) (*wire.BaseFilesWritten, error) {
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
