package tui

import (
	"fmt"

	"example.com/projecthub/hubclient/flat"
)

// Counts returns how many keys differ, such as: 2 added, 1 removed.
func Counts(d flat.Difference) string { return countsOf(d).String() }

// Sentences describes a difference in words, a sentence for each key, with values of
// at most width columns.
func Sentences(d flat.Difference, width int) []string { return sentences(items(d), width) }

// FileSentences is Sentences for files: see [NewFilesView].
func FileSentences(d flat.Difference, width int) []string { return sentences(fileItems(d), width) }

func sentences(items []item, width int) []string {
	var all []string
	for _, it := range keysOf(items) {
		all = append(all, it.sentence(width))
	}
	return all
}

// FullSentences is Sentences with whole values, and a sentence for each element by
// which two arrays differ.
func FullSentences(d flat.Difference) []string { return fullSentences(items(d)) }

// FullFileSentences is FullSentences for files.
func FullFileSentences(d flat.Difference) []string { return fullSentences(fileItems(d)) }

func fullSentences(items []item) []string {
	var all []string
	for _, it := range keysOf(items) {
		all = append(all, it.fullSentences()...)
	}
	return all
}

// keysOf returns the keys among items.
func keysOf(all []item) []item {
	var keys []item
	for _, it := range all {
		if !it.heading {
			it.nested = false
			keys = append(keys, it)
		}
	}
	return keys
}

// sentence describes a key in words, with values of at most width columns.
func (it *item) sentence(width int) string {
	if found, ok := it.elements(); ok && it.lines {
		return fmt.Sprintf("%d. %s %s, %s.", it.number, it.key, it.kind.word(), it.elementsText(found))
	}
	from, to := it.from, it.to
	if len(from) > width || len(to) > width {
		from, to = fromDifference(from, to, width)
	}
	from, _ = shorten(from, width)
	to, _ = shorten(to, width)
	if found, ok := it.elements(); ok && it.kind == changed {
		return fmt.Sprintf("%d. %s changed, %s.", it.number, it.key, it.elementsText(found))
	}
	return fmt.Sprintf("%d. %s %s", it.number, it.key, happens(it.kind, from, to))
}

// fullSentences describes all of a key.
func (it *item) fullSentences() []string {
	all := []string{it.sentence(len(it.from) + len(it.to))}
	if it.kind != changed {
		return all
	}
	what := "element"
	if it.lines {
		what = "line"
	}
	found, _ := it.elements()
	for _, e := range found {
		all = append(all, fmt.Sprintf("   %s %d %s", what, e.index, happens(e.kind, e.from, e.to)))
	}
	return all
}

// happens describes what happens to a value.
func happens(k kind, from, to string) string {
	if k == changed {
		return fmt.Sprintf("changed: %s to %s", from, to)
	}
	return fmt.Sprintf("%s: %s", k.word(), from+to)
}
