package tui

import (
	"slices"
	"strings"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
)

// fileItems lists files that differ, by path, without tokens.
func fileItems(d flat.Difference) []item {
	all := make([]item, 0, len(d.Added)+len(d.Changed)+len(d.Removed))
	for _, e := range d.Added {
		all = append(all, item{kind: added, key: pat.Redact(e.Key), to: pat.Redact(e.Text)})
	}
	for _, c := range d.Changed {
		all = append(all, item{kind: changed, key: pat.Redact(c.Key), from: pat.Redact(c.From), to: pat.Redact(c.To)})
	}
	for _, e := range d.Removed {
		all = append(all, item{kind: removed, key: pat.Redact(e.Key), from: pat.Redact(e.Text)})
	}
	slices.SortFunc(all, func(a, b item) int { return strings.Compare(a.key, b.key) })
	for i := range all {
		all[i].lines, all[i].number = true, i+1
	}
	return all
}

// elements compares the values of an item element by element, those of files line by
// line. It returns false where they have none.
func (it *item) elements() ([]element, bool) {
	if !it.lines {
		return elements(it.from, it.to)
	}
	if !strings.Contains(it.from+it.to, "\n") {
		return nil, false
	}
	found := compare(splitLines(it.from), splitLines(it.to))
	for i := range found {
		found[i].index++ // the first line of a file is 1
	}
	return found, true
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
