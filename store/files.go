package store

import (
	"bytes"
	"cmp"

	"example.com/projecthub/hubclient/tree"
)

// FilesWrite is a prepared write of the files of a project: see PrepareFiles and [Tx.WriteFiles].
type FilesWrite struct {
	before Revision
	after  Revision
	sent   map[string]bool // digests
	unsure tree.Tree       // a file for each blob that may be missing, or may have another size
}

// PrepareFiles prepares a write outside of its transaction: it compares a list of files, in canonical form, with the
// one before, which may be damaged; the zero value means that there is none. sent has the digests of the blobs that
// the upload has stored.
func PrepareFiles(before Revision, list []byte, sent map[string]bool, by Author) (FilesWrite, error) {
	after := Revision{
		Digest: Digest(list), Parent: before.asParent(), Author: by, Content: list,
		Files: int64(bytes.Count(list, []byte{'\n'})), Bytes: before.Bytes,
	}
	if before.Damaged { // its content is not known: all files are new
		after.Bytes = 0
	}
	var c changes
	var changed tree.Tree
	err := tree.Changes(before.Content, list, func(was, is *tree.Entry) error {
		c.add(&after, cmp.Or(is, was).Path, was != nil, is != nil)
		if was != nil {
			after.Bytes -= was.Size
		}
		if is != nil {
			after.Bytes += is.Size
			changed = append(changed, *is)
		}
		return nil
	})
	if err == nil {
		after.names, err = c.text()
	}
	if err == nil && (after.Digest != before.Digest || before.Damaged) {
		err = after.encode(before)
	}
	// The blobs of other files, and those in sent, are stored: a sweep deletes neither what the present list names, nor
	// what is younger than a day.
	return FilesWrite{before: before, after: after, sent: sent, unsure: without(changed, sent)}, err
}

// WriteFiles replaces the files of a project. ErrChanged if the present ones are not those that the write was prepared
// for; ErrMissing, with their digests, if blobs are not stored; ErrSize if one has another size.
func (tx *Tx) WriteFiles(project int64, w FilesWrite) (after Revision, missing []string, err error) {
	last, err := tx.lockHead(project, Files)
	if err != nil {
		return after, nil, err
	}
	if last.n != w.before.N {
		return after, nil, ErrChanged
	}
	if last.incomplete {
		all, err := tree.Read(w.after.Content)
		if err != nil {
			return after, nil, err
		}
		w.unsure = without(all, w.sent)
	}
	if missing, err = tx.missingBlobs(project, w.unsure); err != nil {
		return after, missing, err
	}
	if last.incomplete {
		if err := tx.exec("UPDATE resources SET incomplete = FALSE WHERE id = ?", project); err != nil {
			return after, nil, err
		}
	}
	if w.after.Digest == last.digest && !w.before.Damaged {
		return w.before, nil, nil
	}
	if err := tx.namesOtherBlobs(project); err != nil {
		return after, nil, err
	}
	after, err = tx.add(project, Files, last, w.before, w.after)
	return after, nil, err
}

// without returns a file for each blob that files name, except those in sent.
func without(files tree.Tree, sent map[string]bool) (unsure tree.Tree) {
	type blob struct {
		sha256 string
		size   int64
	}
	known := map[blob]bool{}
	for _, e := range files {
		if b := (blob{e.SHA256, e.Size}); !sent[e.SHA256] && !known[b] {
			known[b] = true
			unsure = append(unsure, e)
		}
	}
	return unsure
}
