package store

import (
	"example.com/projecthub/hubclient/tree"
)

// FilesWrite is a prepared write of the files of a project: see PrepareFiles and [Tx.WriteFiles].
type FilesWrite struct {
	before Revision
	after  Revision
	files  tree.Tree       // of after
	sent   map[string]bool // digests
	unsure []tree.Entry    // a file for each blob that may be missing, or may have another size
}

// PrepareFiles prepares a write outside of its transaction: it compresses a list of files, and compares it with the one
// before, which may be damaged; the zero value means that there is none. sent has the digests of the blobs that the
// upload has stored.
func PrepareFiles(before Revision, files tree.Tree, sent map[string]bool, by Author) (FilesWrite, error) {
	former, err := tree.Read(before.Content)
	if err != nil {
		return FilesWrite{}, err
	}
	diff := tree.Diff(former, files)
	after := Revision{
		Parent: before.asParent(), Author: by, Content: files.Canonical(), Files: int64(len(files)), Bytes: files.Bytes(),
		Added: len(diff.Added), Changed: len(diff.Changed), Removed: len(diff.Removed),
	}
	after.Digest = Digest(after.Content)
	if after.Digest != before.Digest || before.Damaged {
		err = after.encode(before)
	}
	// The blobs of former and sent are stored: a sweep deletes neither what a list names, nor what is younger than a day.
	return FilesWrite{before, after, files, sent, without(files, former, sent)}, err
}

// WriteFiles replaces the files of a project. ErrChanged if the present ones are not those that the write was prepared
// for; ErrMissing, with their digests, if blobs are not stored; ErrSize if one has another size.
func (tx *Tx) WriteFiles(project int64, w FilesWrite) (after Revision, lacking []string, err error) {
	last, err := tx.lockHead(project, Files)
	if err != nil {
		return after, nil, err
	}
	if last.n != w.before.N {
		return after, nil, ErrChanged
	}
	if last.incomplete {
		w.unsure = without(w.files, nil, w.sent)
	}
	if lacking, err = tx.lacks(project, w.unsure); err != nil {
		return after, lacking, err
	}
	if last.incomplete {
		if err := tx.exec("UPDATE resources SET incomplete = FALSE WHERE id = ?", project); err != nil {
			return after, nil, err
		}
	}
	if w.after.Digest == last.digest && !w.before.Damaged {
		return w.before, nil, nil
	}
	if err := tx.named(project); err != nil {
		return after, nil, err
	}
	after, err = tx.add(project, Files, last, w.before, w.after)
	return after, nil, err
}

// without returns a file for each blob that files name, except the blobs that others name with the same size, and those
// in sent.
func without(files, others tree.Tree, sent map[string]bool) (unsure []tree.Entry) {
	type blob struct {
		sha256 string
		size   int64
	}
	known := make(map[blob]bool, len(others))
	for _, e := range others {
		known[blob{e.SHA256, e.Size}] = true
	}
	for _, e := range files {
		if b := (blob{e.SHA256, e.Size}); !known[b] && !sent[e.SHA256] {
			known[b] = true
			unsure = append(unsure, e)
		}
	}
	return unsure
}
