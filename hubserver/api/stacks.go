package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/stackmanifest"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/hubserver/schema"
	"example.com/projecthub/store"
)

// stackManifest is the file at the root of each version that says which stack and version it is.
const stackManifest = "stack.json"

// maxStackManifest bounds the manifest, in bytes.
const maxStackManifest = 1 << 20

// putVersion publishes files as a version of the stack that the path names. The first upload creates the stack.
func putVersion(c *request.Call) error {
	number := c.Param("version")
	if err := newVersion(c, number); err != nil {
		return err
	}
	u, err := newUpload(c, "the bundle", c.Hub.Limits.BundleBytes)
	if err != nil {
		return err
	}
	id := c.Resource.ID
	if id == 0 { // blobs are stored for a stack, so it must exist first
		err := c.Write(func(tx *store.Tx) (done request.Done, err error) {
			id, err = tx.AddStack(c.Access.AccountID, c.Ref().Slug(), c.Access.Name())
			return done, err
		})
		if err != nil {
			return err
		}
	}
	list, err := u.receive(id, store.Revision{})
	if err != nil {
		return err
	}
	files, err := tree.Read(list)
	if err != nil {
		return err
	}
	settings, err := checkVersion(c, id, files)
	if err != nil {
		return err
	}
	w := store.PrepareVersion(number, files, settings, u.sent, c.Access.Name())
	var missing []string
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		var p store.Published
		if p, missing, err = tx.PublishVersion(id, w); err != nil {
			return done, err
		}
		status := http.StatusOK
		if !p.Already {
			status = http.StatusCreated
			done = c.Did("stack.publish", number)
		}
		answer := wire.Published{StackVersion: toStackVersion(c, &p.StackVersion), FirstVersion: p.First}
		return done.With(status, answer), nil
	})
	return publishProblem(err, c.Ref(), number, missing)
}

// newVersion checks the number of a version to publish: 422 with build metadata, 404 if it is no version.
func newVersion(c *request.Call, number string) error {
	release, _, build := strings.Cut(number, "+")
	switch {
	case version.Valid(number):
		return nil
	case build && version.Valid(release):
		return request.InvalidBody("", "the version %s has build metadata, which does not affect the order of "+
			"versions: %s with another build would be the same version", number, release).
			WithHint("publish it as %s, or raise version in %s", release, stackManifest)
	}
	return noVersion(number, c.Ref().String())
}

// noVersion is the 404 about a version of a stack.
func noVersion(number, stack string) error {
	return request.NotFound("version " + number + " of the stack " + stack)
}

// checkVersion checks the files of a version, whose blobs are stored: the manifest must have the stack and the
// version of the path, and the files that it names must exist. It returns the digest of the JSON Schema of the
// settings, "" for none.
func checkVersion(c *request.Call, id int64, files tree.Tree) (settings string, err error) {
	file, ok := find(files, stackManifest)
	switch {
	case !ok:
		return "", badArchive("it has no %s", stackManifest)
	case file.Size > maxStackManifest:
		return "", badArchive("its %s is larger than %d KiB", stackManifest, maxStackManifest>>10)
	}
	text, err := Content(c, id, file.SHA256)
	if err != nil {
		return "", err
	}
	manifest, err := stackmanifest.Parse(text)
	if err != nil {
		return "", badArchive("its %s: %v", stackManifest, err)
	}
	if stack, number := c.Ref().String(), c.Param("version"); manifest.Name != stack || manifest.Version != number {
		return "", badArchive("its %s names %s version %s, not %s version %s",
			stackManifest, manifest.Name, manifest.Version, stack, number)
	}
	if _, ok := find(files, manifest.Module); manifest.Module != "" && !ok {
		return "", badArchive("its %s names %s as preview.module, which it does not contain", stackManifest, manifest.Module)
	}
	if manifest.Schema == "" {
		return "", nil
	}
	file, ok = find(files, manifest.Schema)
	if !ok {
		return "", badArchive("its %s names the settings schema %s, which is not in the bundle", stackManifest,
			manifest.Schema)
	}
	text, err = Content(c, id, file.SHA256)
	if err != nil {
		return "", err
	}
	if err := schema.Check(text); err != nil {
		return "", badArchive("%s is not a JSON Schema that the hub can use: %v", manifest.Schema, err)
	}
	return file.SHA256, nil
}

// find returns the entry of the file with that path.
func find(files tree.Tree, path string) (tree.Entry, bool) {
	i := slices.IndexFunc(files, func(e tree.Entry) bool { return e.Path == path })
	if i < 0 {
		return tree.Entry{}, false
	}
	return files[i], true
}

// publishProblem converts the errors of publishing a version; missing are the digests of blobs that are not stored.
func publishProblem(err error, stack ref.Ref, number string, missing []string) error {
	notNewer, older := errors.AsType[*store.NotNewerError](err)
	switch {
	case errors.Is(err, store.ErrWithdrawn):
		return request.Problemf(http.StatusConflict, wire.CodeVersionExists,
			"%s %s was withdrawn, and cannot be published again", stack, number).WithHint("raise version in %s", stackManifest)
	case errors.Is(err, store.ErrExists):
		return request.Problemf(http.StatusConflict, wire.CodeVersionExists,
			"%s %s is already published with other files, and a published version never changes", stack, number).
			WithHint("raise version in %s", stackManifest)
	case older:
		return request.Problemf(http.StatusConflict, wire.CodeVersionNotNewer,
			"%s is not above %s, the newest version of %s", number, notNewer.Newest, stack).
			WithHint("raise version in %s above %s", stackManifest, notNewer.Newest)
	case errors.Is(err, store.ErrMissing):
		p := request.Problemf(http.StatusConflict, wire.CodePlanOutdated, "%d files are not stored", len(missing))
		p.Missing = missing
		return p.WithHint("send them, too")
	case errors.Is(err, store.ErrSize):
		return cannotTake("the list of files", "%v", err)
	}
	return err
}

// getStack responds with a stack and its versions; for its writers, also with how many projects follow latest.
func getStack(c *request.Call) error {
	row, versions, err := c.View().Stack(c.Resource.ID)
	if err != nil {
		return resourceProblem(c, err)
	}
	answer := wire.Stack{Stack: c.Ref().Path(), Latest: row.Latest, Versions: make([]wire.StackVersion, len(versions))}
	for i := range versions {
		answer.Versions[i] = toStackVersion(c, &versions[i])
	}
	if atLeast(c.Access.Role, wire.Writer) {
		n, err := c.View().Followers(c.Resource.ID, wire.MostFollowers)
		if err != nil {
			return err
		}
		answer.Followers = &n
	}
	return c.JSON(http.StatusOK, answer)
}

func getVersion(c *request.Call, v store.StackVersion) error {
	return c.JSON(http.StatusOK, toStackVersion(c, &v))
}

// stackVersion returns the version that the path names, 404 if it does not exist.
func stackVersion(c *request.Call) (store.StackVersion, error) {
	return versionOf(c, c.Resource.ID, c.Ref().String(), c.Param("version"))
}

// versionOf returns a version of a stack, 404 if it does not exist.
func versionOf(c *request.Call, id int64, stack, number string) (v store.StackVersion, err error) {
	if !version.Valid(number) {
		return v, noVersion(number, stack)
	}
	v, err = c.View().StackVersion(id, number)
	if errors.Is(err, store.ErrNotFound) {
		err = noVersion(number, stack)
	}
	return v, err
}

func getBundle(c *request.Call, v store.StackVersion) error {
	return sendVersion(c, c.Resource.ID, &v)
}

func sendVersion(c *request.Call, stack int64, v *store.StackVersion) error {
	files, err := c.View().StackFiles(stack, v.Version)
	if err != nil {
		return err
	}
	return sendTar(c, stack, v.Tree, files, v.PublishedAt.Time())
}

func toStackVersion(c *request.Call, v *store.StackVersion) wire.StackVersion {
	return wire.StackVersion{
		Stack: c.Ref().Path(), Version: v.Version, Digest: v.Tree, SizeBytes: v.SizeBytes, FileCount: v.FileCount,
		PublishedAt: v.PublishedAt.Time(), PublishedBy: v.PublishedBy, WithdrawnAt: v.WithdrawnAt.Time(),
	}
}
