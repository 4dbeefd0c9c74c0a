package flat

import "fmt"

// Limits is how large a config may be. A limit of 0 limits nothing.
type Limits struct {
	Bytes int64 // of the flat config's canonical form
	Keys  int
	Depth int // nesting of the settings: {"a":1} is 1 deep, {"a":{"b":[1]}} 3
}

// LimitError says which limit a config is above.
type LimitError struct {
	What       string // "size in bytes", "number of keys" or "depth"
	Found, Max int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the config's %s is %d, above the limit of %d", e.What, e.Found, e.Max)
}

// Check returns a [*LimitError] when c is above one of the limits.
func (c Config) Check(limits Limits) error { return c.Measure().Check(limits) }

// Measure returns the least limits that allow c. It writes no keys out: its time is in
// proportion to the settings, however long the keys are.
func (c Config) Measure() Limits { return Limits{c.size(), c.Len(), c.settings.depth()} }

// Check returns a [*LimitError] when a config of these measures is above one of the limits.
func (l Limits) Check(limits Limits) error {
	for _, e := range []LimitError{
		{"size in bytes", l.Bytes, limits.Bytes},
		{"number of keys", int64(l.Keys), int64(limits.Keys)},
		{"depth", int64(l.Depth), int64(limits.Depth)},
	} {
		if e.Max > 0 && e.Found > e.Max {
			return &e
		}
	}
	return nil
}

// size is the length of c's canonical form.
func (c Config) size() int64 {
	commas := max(0, c.Len()-1)
	return int64(len("{}")+commas) + flatSize(c.settings, 0)
}

// flatSize is the length of the members that object's leaves become, without
// commas, when the quoted text of their keys has prefix bytes before object's own.
func flatSize(object node, prefix int64) int64 {
	var size int64
	for _, n := range object.items {
		quoted := quotedLen(escape(n.name))
		if n.isLeaf() {
			size += prefix + int64(quoted+len(":")+len(n.leafText()))
		} else {
			size += flatSize(n, prefix+int64(quoted-len(`""`)+len(".")))
		}
	}
	return size
}
