package tui

// Element is one by which two arrays differ.
type Element struct {
	Kind     string
	Index    int
	From, To string
}

// Elements compares two arrays.
func Elements(from, to string) (all []Element, ok bool) {
	found, ok := elements(from, to)
	for _, e := range found {
		all = append(all, Element{kinds[e.kind].word, e.index, e.from, e.to})
	}
	return all, ok
}

var (
	WrapValue    = wrap
	ShortenValue = shorten
)
