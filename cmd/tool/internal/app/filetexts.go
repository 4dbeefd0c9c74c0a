package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// Files with more bytes are not compared line by line, nor those beyond a total.
const (
	maxTextFile  = 256 << 10
	maxTextFiles = 16 << 20
)

// FileTexts reads files for a person, by path: the text of each, or a line in parentheses
// that says what it is instead.
type FileTexts struct {
	Texts map[string]string
	bytes int64
}

// Add reads one file.
func (t *FileTexts) Add(e tree.Entry, content io.Reader) error {
	if t.Texts == nil {
		t.Texts = map[string]string{}
	}
	size := "(" + Bytes(e.Size) + ")"
	if e.Size > maxTextFile || t.bytes+e.Size > maxTextFiles {
		t.Texts[e.Path] = size
		return nil
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	t.bytes += e.Size
	switch {
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		t.Texts[e.Path] = "(binary, " + Bytes(e.Size) + ")"
	case len(data) == 0:
		t.Texts[e.Path] = "(empty)"
	default:
		t.Texts[e.Path] = string(data)
	}
	return nil
}

// errAllRead ends a download before its end.
var errAllRead = errors.New("all files were read")

// HubTexts reads those of the hub's base files that wanted names.
func HubTexts(
	ctx context.Context, hub *identity.Hub, r ref.Ref, set *wire.BaseFiles, wanted []string, report Report,
) (map[string]string, error) {
	isWanted := make(map[string]bool, len(wanted))
	for _, path := range wanted {
		isWanted[path] = true
	}
	if len(isWanted) == 0 {
		return nil, nil
	}
	var texts FileTexts
	progress := tui.Progress{Phase: Downloading, TotalFiles: len(isWanted)}
	err := hub.DownloadBaseFiles(ctx, r, set, func(e tree.Entry, content io.Reader) error {
		if isWanted[e.Path] {
			if err := texts.Add(e, content); err != nil {
				return err
			}
			progress.Files++
			report(progress)
			if progress.Files == len(isWanted) {
				return errAllRead
			}
		}
		_, err := io.Copy(io.Discard, content)
		return err
	})
	if errors.Is(err, errAllRead) {
		err = nil
	}
	return texts.Texts, err
}

// FilesDifference returns how files differ as a difference of texts by path.
func FilesDifference(files tree.Difference, from, to map[string]string) (d flat.Difference) {
	for _, path := range files.Added {
		d = append(d, flat.Change{Key: path, To: to[path]})
	}
	for _, path := range files.Changed {
		d = append(d, flat.Change{Key: path, From: from[path], To: to[path]})
	}
	for _, path := range files.Removed {
		d = append(d, flat.Change{Key: path, From: from[path]})
	}
	return d
}

// ChangedFiles lists how files differ for a question: first those that are lost.
func ChangedFiles(d tree.Difference) (names []string) {
	for _, path := range d.Removed {
		names = append(names, "- "+path)
	}
	for _, path := range d.Changed {
		names = append(names, "~ "+path)
	}
	for _, path := range d.Added {
		names = append(names, "+ "+path)
	}
	return names
}

// FileCounts counts how files differ.
func FileCounts(d tree.Difference) string {
	return Counts(len(d.Added), len(d.Changed), len(d.Removed))
}

// FilesQuestion is a question about files that differ. Show reads how.
type FilesQuestion struct {
	Title, Yes string
	Facts      []string
	Names      []string // such as: ~ src/index.html
	Notice     string   // what has changed since the question was asked before
	Show       func(context.Context) (flat.Difference, error)
}

// ConfirmFiles asks q, and shows the contents of the files first if that is wanted.
func (a *App) ConfirmFiles(ctx context.Context, q FilesQuestion) (yes bool, err error) {
	facts := append(q.Facts, Shortened(q.Names)...)
	if q.Notice != "" {
		facts = append([]string{q.Notice}, facts...)
	}
	question := prompts.Question{Title: q.Title, Facts: facts, Preset: "no", Choices: []prompts.Choice{
		{Value: "yes", Text: q.Yes}, {Value: "no", Text: prompts.Cancel}, {Value: "show", Text: "Show what changes in them"},
	}}
	answer := ""
	err = a.UI.Ask(ctx, prompts.Step{
		Question: func() prompts.Question { return question },
		Take:     func(taken string) { answer = taken },
	})
	if err != nil {
		return false, err
	}
	if answer != "show" {
		return answer == "yes", nil
	}
	difference, err := q.Show(ctx)
	if err != nil {
		return false, err
	}
	return a.UI.Overwrite(ctx, prompts.Overwrite{
		Title: q.Title, Facts: q.Facts, Yes: q.Yes, Difference: difference, Files: true,
	})
}
