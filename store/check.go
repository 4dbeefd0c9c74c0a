package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/projecthub/hubclient/ref"
)

// Problem is something stored that is damaged or missing.
type Problem struct {
	Cause  error  // names the object
	Remedy string // how it comes right
}

// Checked counts what a check has read.
type Checked struct{ Blobs, Projects, Stacks, APIs int }

// checker reads everything that is stored, and compares it with its digests.
type checker struct {
	*View
	n       Checked
	repair  bool
	found   func(Problem)
	damaged []damagedBlob
	files   map[blobName]string // that have a damaged blob, one for each; "": none was seen
}

type damagedBlob struct {
	blobName
	err error
}

type blobName struct{ account, sha256 string }

// Check reads all that is stored and calls found with what is not as it was stored. With
// repair, what a push can replace is marked, so that the next push of the same files sends
// it again; hubs do so themselves with what they find when they read it.
func (s *Store) Check(ctx context.Context, repair bool, found func(Problem)) (Checked, error) {
	var c *checker
	err := s.Read(ctx, func(v *View) error {
		c = &checker{View: v, repair: repair, found: found, files: map[blobName]string{}}
		for _, check := range []func(context.Context) error{c.blobs, c.projects, c.damagedBlobs, c.stacks, c.apis, c.objects} {
			if err := check(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return c.n, err
}

// note reports err if it is about what is stored, and returns any other.
func (c *checker) note(err error, remedy string) error {
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrMissing) {
		c.found(Problem{err, remedy})
		return nil
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrReplaced) {
		return nil // meanwhile
	}
	return err
}

// mark notes that an object of an account is damaged, so that a push replaces it.
func (c *checker) mark(ctx context.Context, account, object string) error {
	if !c.repair {
		return nil
	}
	_, err := c.store.recordDamage(ctx, account, object)
	return err
}

// name returns the name of what is stored. It reports one that is invalid: nothing can be
// read by it.
func (c *checker) name(kind, account, slug string) (r ref.Ref, ok bool) {
	r, err := ref.New(account, slug)
	if err != nil {
		c.found(Problem{fmt.Errorf("%s %q: invalid name", kind, account+"/"+slug), "restore a backup: nothing can be read by this name"})
	}
	return r, err == nil
}

// pushAgain says what a push again replaces, of what it has to be, and what lets it do so,
// unless the damage is known.
func (c *checker) pushAgain(what, them string, known bool) string {
	if c.repair || known {
		return "push " + what + " again: the push replaces " + them
	}
	return "push " + what + " again: hub fsck --repair lets that push replace " + them
}

func (c *checker) blobs(ctx context.Context) error {
	reader := c.BlobReader("")
	last := Blob{}
	for {
		var page []Blob
		err := c.db.NewSelect().Model(&page).Where("(account, stream, start, sha256) > (?, ?, ?, ?)", last.Account, last.Stream, last.Start, last.SHA256).
			Order("account", "stream", "start", "sha256").Limit(chunk).Scan(ctx)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, blob := range page {
			if blob.Account != reader.account {
				reader = c.BlobReader(blob.Account)
			}
			c.n.Blobs++
			err := reader.Copy(ctx, io.Discard, blob)
			if errors.Is(err, ErrDamaged) {
				name := blobName{blob.Account, blob.SHA256}
				c.damaged, c.files[name] = append(c.damaged, damagedBlob{name, err}), ""
				err = nil
			} else if errors.Is(err, ErrMissing) {
				err = nil // it was collected meanwhile
			}
			if err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}

// damagedBlobs reports the damaged blobs, after projects has seen which files have them.
func (c *checker) damagedBlobs(ctx context.Context) (err error) {
	account := ""
	var known map[string]bool
	for _, blob := range c.damaged {
		if blob.account != account {
			account = blob.account
			if known, err = c.Damaged(ctx, account); err != nil {
				return err
			}
		}
		what := "the base files of a project that has it"
		if file := c.files[blob.blobName]; file != "" {
			what = file
		}
		if err := errors.Join(c.note(blob.err, c.pushAgain(what, "it", known[blob.sha256])), c.mark(ctx, account, blob.sha256)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) projects(ctx context.Context) error {
	last := Project{}
	for {
		var page []Project
		err := c.db.NewSelect().Model(&page).Column("account", "slug").Where("(account, slug) > (?, ?)", last.Account, last.Slug).
			Order("account", "slug").Limit(chunk).Scan(ctx)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			r, ok := c.name("project", p.Account, p.Slug)
			if !ok {
				continue
			}
			c.n.Projects++
			if err := errors.Join(c.configs(ctx, r), c.baseFiles(ctx, r)); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}

// configs checks a project's config, and the revisions that it had.
func (c *checker) configs(ctx context.Context, r ref.Ref) error {
	remedy := ConfigRemedy
	_, err := c.Config(ctx, r)
	if errors.Is(err, ErrNotFound) {
		remedy = "restore the project with tool project restore " + r.String() + ", then " + remedy
		err = c.deletedConfig(ctx, r)
	}
	if err := c.note(err, remedy); err != nil {
		return err
	}
	var entries []ConfigEntry
	err = c.db.NewSelect().Model(&entries).Column("n", "revision").Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Order("n DESC").Scan(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{} // the newest entry of a revision is what is shown of it
	for _, e := range entries {
		if seen[e.Revision] {
			continue
		}
		seen[e.Revision] = true
		_, err := c.configAt(ctx, r, &e)
		if err := c.note(err, "this revision cannot be restored; all others can"); err != nil {
			return err
		}
	}
	return nil
}

// deletedConfig checks the config of a project that was deleted and can be restored.
func (c *checker) deletedConfig(ctx context.Context, r ref.Ref) error {
	config := &Config{}
	err := c.readLarge(ctx, []any{&config.Revision, &config.Body}, "SELECT revision, body FROM deleted_projects WHERE account = ? AND slug = ?", r.Account(), r.Slug())
	if err == nil && config.damaged() {
		err = &DamagedConfig{r}
	}
	return err
}

// baseFiles checks a project's list of base files, that their blobs are stored, and the lists
// that it had.
func (c *checker) baseFiles(ctx context.Context, r ref.Ref) error {
	set, err := c.Snapshot(ctx, r)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	files, err := set.List()
	if err != nil {
		known, unknown := c.Damaged(ctx, r.Account())
		return errors.Join(unknown, c.note(err, c.pushAgain("its base files", "them", known[r.String()])), c.mark(ctx, r.Account(), r.String()))
	}
	for _, e := range files {
		if file, damaged := c.files[blobName{r.Account(), e.SHA256}]; damaged && file == "" {
			c.files[blobName{r.Account(), e.SHA256}] = fmt.Sprintf("the base files of %s, where it is %s,", r, e.Path)
		}
	}
	missing := func(err error) error {
		return c.note(fmt.Errorf("base files of %s: %w", r, err), "push its base files again")
	}
	if _, err := c.BlobReader(r.Account()).locate(ctx, files, missing); err != nil {
		return err
	}
	entries, err := c.filesEntries(ctx, r)
	if err != nil || len(entries) == 0 {
		return err
	}
	_, err = c.FormerTree(ctx, r, entries[len(entries)-1].Tree) // through all after it
	return c.note(err, "earlier base files of this project cannot be restored")
}

// publishAgain says how a stack version comes right. Without --force nothing is uploaded that
// is published already.
const publishAgain = "publish the same files again: tool publish NAME --force"

func (c *checker) stacks(ctx context.Context) error {
	var versions []StackVersion
	if err := c.db.NewSelect().Model(&versions).Column("account", "slug", "version").Scan(ctx); err != nil {
		return err
	}
	for _, v := range versions {
		r, ok := c.name("stack", v.Account, v.Slug)
		if !ok {
			continue
		}
		c.n.Stacks++
		body, err := c.Bundle(ctx, r, v.Version)
		if err == nil {
			err = c.check(ctx, body)
		}
		if err := c.note(err, publishAgain); err != nil {
			return err
		}
		_, err = c.Schema(ctx, r, v.Version)
		if err := c.note(err, publishAgain); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) apis(ctx context.Context) error {
	var apis []API
	if err := c.db.NewSelect().Model(&apis).Column("account", "slug").Scan(ctx); err != nil {
		return err
	}
	for _, a := range apis {
		r, ok := c.name("API", a.Account, a.Slug)
		if !ok {
			continue
		}
		c.n.APIs++
		body, err := c.Document(ctx, r)
		if err == nil {
			err = c.check(ctx, body)
		}
		if err := c.note(err, "upload the same description again"); err != nil {
			return err
		}
	}
	return nil
}
