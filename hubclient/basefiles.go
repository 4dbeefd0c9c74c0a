package hubclient

import (
	"context"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// BaseFiles returns the set of base files that a project holds; nil when none was
// pushed. Its files are a [tree.Tree] with the digest that it names.
func (c *Client) BaseFiles(ctx context.Context, r ref.Ref) (*wire.BaseFiles, error) {
	var set wire.BaseFiles
	_, err := c.send(ctx, request{method: http.MethodGet, path: baseFilesPath(r)}, &set)
	if HasCode(err, wire.CodeNotFound) {
		// The project or its set: only the former is a failure.
		_, err := c.Project(ctx, r)
		return nil, err
	}
	return &set, err
}

func baseFilesPath(r ref.Ref) string { return projectPath(r) + "/preview/base-files" }

// PutBaseFiles replaces the base files of an existing project by files.
func (c *Client) PutBaseFiles(ctx context.Context, r ref.Ref, files tree.Tree, open Opener, sent Sent) (*wire.BaseFilesWritten, error) {
	return c.putBaseFiles(ctx, r, files, open, sent, nil)
}

// SeedBaseFiles gives a project that was just made its first base files. The hub
// refuses them where somebody else was faster.
func (c Created) SeedBaseFiles(ctx context.Context, files tree.Tree, open Opener, sent Sent) (*wire.BaseFilesWritten, error) {
	r := c.project.Project
	written, err := c.client.putBaseFiles(ctx, r, files, open, sent, map[string]string{"If-None-Match": "*"})
	if HasCode(err, wire.CodeSetExists) && lostBefore(err) {
		// An attempt whose answer was lost may have stored them.
		if set, e := c.client.BaseFiles(ctx, r); e == nil && set != nil && set.Tree == files.Digest() {
			return &wire.BaseFilesWritten{Project: r, Tree: set.Tree, BaseFilesPushed: set.Count, Added: set.Count}, nil
		}
	}
	return written, err
}

func (c *Client) putBaseFiles(ctx context.Context, r ref.Ref, files tree.Tree, open Opener, sent Sent, condition map[string]string) (*wire.BaseFilesWritten, error) {
	req := request{method: http.MethodPut, path: baseFilesPath(r), about: r, header: condition}
	req.archiveBody(files, open, sent)
	var written wire.BaseFilesWritten
	_, err := c.send(ctx, req, &written)
	return &written, err
}
