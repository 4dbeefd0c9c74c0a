package flat

import (
	"fmt"

	"example.com/projecthub/hubclient/wire"
)

// ConflictError says why a patch, sound by itself, does not fit the config that
// is there.
type ConflictError struct {
	Pointer string // JSON pointer of the patch's member: /set/<key>
	Detail  string
}

func (e *ConflictError) Error() string { return e.Pointer + ": " + e.Detail }

// Patch returns c without the keys in remove and with those of set, a flat
// config as JSON; nil sets nothing. Removing an absent key is not an error.
//
// What is wrong with set and remove alone is a [*wire.SyntaxError] or a
// [*wire.ShapeError] with a pointer to /set/<key> or /remove/<index>; a set key
// that clashes with one that stays is a [*ConflictError].
func (c Config) Patch(set []byte, remove []string) (Config, error) {
	if set == nil {
		set = []byte("{}")
	}
	fresh, err := parseFlat(set, "/set")
	if err != nil {
		return Config{}, err
	}
	removed, err := fresh.checkRemove(remove)
	if err != nil {
		return Config{}, err
	}
	members := fresh.flat()
	for _, m := range c.flat() {
		if _, replaced := fresh.find(m.name); !replaced && !removed[m.name] {
			members = append(members, m)
		}
	}
	leaves, err := placeAll(members, "/set")
	if err != nil {
		return Config{}, err
	}
	patched, clash := nest(leaves)
	if clash != nil {
		return Config{}, fresh.conflict(clash)
	}
	return patched, nil
}

// checkRemove returns the keys to remove besides those that c sets.
func (c Config) checkRemove(remove []string) (map[string]bool, error) {
	removed := make(map[string]bool, len(remove))
	for i, key := range remove {
		if _, err := SplitKey(key); err != nil {
			return nil, &wire.ShapeError{Pointer: fmt.Sprintf("/remove/%d", i), Detail: err.Error()}
		}
		if _, ok := c.find(key); ok {
			return nil, &wire.ShapeError{Pointer: pointer("/set", key), Detail: "the key is to be removed too"}
		}
		removed[key] = true
	}
	return removed, nil
}

// conflict blames a clash on the one of its two keys that c sets.
func (c Config) conflict(clash *clash) error {
	if _, ok := c.find(clash.below); ok {
		return &ConflictError{pointer("/set", clash.below), clash.blameBelow()}
	}
	return &ConflictError{pointer("/set", clash.above), clash.blameAbove()}
}
