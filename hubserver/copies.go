package hubserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// createCopy creates a project that begins as a copy of another one. It is a creation: a
// name that is taken is a conflict.
func (s *Server) createCopy(c *call, body []byte, req *wire.CreateProject) error {
	project, err := newName(req)
	if err != nil {
		return err
	}
	for pointer, given := range map[string]bool{"/stack": req.Stack != "", "/stackVersion": req.StackVersion != "", "/api": !req.API.IsZero()} {
		if given {
			return invalidBody(pointer, "a copy has that of the project that copyOf names: leave it out")
		}
	}
	if err := checkProject(wire.Latest, cmp.Or(req.Visibility, wire.Private)); err != nil {
		return err
	}
	if err := c.permit(req.Account, wire.Writer, wire.ScopeWriteCatalog); err != nil {
		return err
	}
	source, err := c.readable(req.CopyOf)
	if err != nil {
		return err
	}
	row := &store.Project{
		Account: project.Account(), Slug: project.Slug(),
		StackAccount: source.StackAccount, StackSlug: source.StackSlug, StackVersion: source.StackVersion,
		APIAccount: source.APIAccount, APISlug: source.APISlug,
		Visibility: string(cmp.Or(req.Visibility, wire.Private)), CreatedBy: c.who.user,
	}
	if err := c.permitBindings(row); err != nil {
		return err
	}
	if err := c.copyBlobs(req.CopyOf, project); err != nil {
		return err
	}
	return s.insertProject(c, body, row, req.ExpiresAt, func(tx *store.Tx) error { return c.fillCopy(tx, project, req.CopyOf) })
}

// readable returns a project of which the caller may read everything, as its account's
// reader or because it is public.
func (c *call) readable(r ref.Ref) (view *store.ProjectView, err error) {
	view, err = lookUp(c, func(v *store.View) (*store.ProjectView, error) { return v.Project(c.ctx(), r) })
	if err == nil && view.IsPublic() {
		return view, nil
	}
	if refused := c.permit(r.Account(), wire.Reader, ""); refused != nil {
		return nil, refused
	}
	if errors.Is(err, store.ErrNotFound) {
		p := invalidBody("/copyOf", "there is no project %s", r)
		return nil, c.addDeleted(p, r)
	}
	return view, err
}

// mayRead reports whether the caller was found to be a reader of account, which is checked
// again in each transaction.
func (c *call) mayRead(account string) bool {
	return slices.ContainsFunc(c.granted, func(g grant) bool { return g.account == account })
}

func noSource(err error, r ref.Ref) error {
	if errors.Is(err, store.ErrNotFound) {
		return invalidBody("/copyOf", "there is no project %s", r)
	}
	return err
}

// fillCopy gives a new project what source has, if the caller still may read that.
func (c *call) fillCopy(tx *store.Tx, project, source ref.Ref) error {
	view, err := tx.Project(c.ctx(), source)
	if err != nil {
		return noSource(err, source)
	}
	if !view.IsPublic() && !c.mayRead(source.Account()) {
		return c.who.notPermitted("", source.Account(), wire.Reader) // it was public until now
	}
	err = tx.CopyContents(c.ctx(), project, source, store.ConfigWrite{Author: c.author(wire.ViaCreate), Count: countKeys})
	if errors.Is(err, store.ErrNotFound) {
		return noSource(err, source) // it was deleted until now
	}
	if outdated, ok := errors.AsType[*store.OutdatedError](err); ok {
		return fmt.Errorf("%w: %d blobs of %s are missing", store.ErrUnavailable, len(outdated.Missing), source)
	}
	return err
}

// copyBlobs reserves the memory for a copy, and stores in its account the blobs that only
// the account of the source has.
func (c *call) copyBlobs(source, project ref.Ref) error {
	var size, config int64
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		if size, err = v.SnapshotSize(c.ctx(), source); errors.Is(err, store.ErrNotFound) {
			size, err = 0, nil
		}
		if err == nil {
			config, err = v.ConfigSize(c.ctx(), source)
		}
		return err
	})
	if err != nil {
		return noSource(err, source)
	}
	if err := c.takePart(setPart, min(replacedCost*config+swapCost*size, c.s.memory.queues[uploading].most/2)); err != nil {
		return err
	}
	if size == 0 || source.Account() == project.Account() {
		return nil
	}
	w := c.s.Store.NewPackWriter(project.Account(), store.PackOptions{
		Check:   c.permitAgain,
		Reserve: func(bytes int64) error { return c.takePart(packPart, bytes) },
	})
	if err := c.addBlobs(w, source, project.Account()); err != nil {
		w.Abort()
		return err
	}
	return w.Complete(c.ctx())
}

// addBlobs adds the blobs of the source's base files that account lacks.
func (c *call) addBlobs(w *store.PackWriter, source ref.Ref, account string) error {
	return c.s.Store.Read(c.ctx(), func(v *store.View) error {
		set, err := v.Snapshot(c.ctx(), source)
		if err != nil {
			return noSource(err, source)
		}
		files, err := set.List()
		if err != nil {
			return err
		}
		if files, err = c.lacking(account, files); err != nil {
			return err
		}
		reader := v.BlobReader(source.Account())
		stored, err := reader.Locate(c.ctx(), files)
		if err != nil {
			return err
		}
		for _, f := range stored {
			if err := c.takePart(contentPart, 2*f.Size); err != nil {
				return err
			}
			var content bytes.Buffer
			if err := reader.Copy(c.ctx(), &content, f.Blob); err != nil {
				return err
			}
			c.parts[contentPart] = 0 // the writer reserves memory for what it keeps
			if err := w.Add(c.ctx(), f.SHA256, content.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
}

// lacking returns the files whose blobs account lacks, and leases the others.
func (c *call) lacking(account string, files tree.Tree) (tree.Tree, error) {
	sizes := make(map[string]int64, len(files))
	for _, e := range files {
		sizes[e.SHA256] = e.Size
	}
	missing := map[string]bool{}
	err := c.transact(c.ctx(), func(tx *store.Tx) error {
		clear(missing)
		digests, err := tx.Lease(c.ctx(), account, sizes)
		for _, d := range digests {
			missing[d] = true
		}
		return err
	})
	var lacking tree.Tree
	for _, e := range files {
		if missing[e.SHA256] {
			lacking = append(lacking, e)
		}
	}
	return lacking, err
}

// DeleteExpired deletes the projects whose time has come, and tells those who watch them.
func (s *Server) DeleteExpired(ctx context.Context) (deleted int, err error) {
	gone, err := s.Store.DeleteExpired(ctx)
	for _, r := range gone {
		s.watches.wrote(r)
	}
	return len(gone), err
}
