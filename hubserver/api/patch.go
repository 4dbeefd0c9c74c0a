package api

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// applyPatch returns config without the keys in p.Remove and with those of p.Set, a flat config. Removing a key that
// does not exist is not an error. Errors are a *wire.SyntaxError, or a *wire.ShapeError with a pointer into p.
func applyPatch(config flat.Config, p *wire.PatchConfig) (flat.Config, error) {
	var set flat.Config
	if p.Set != nil {
		var err error
		if set, err = flat.Parse(p.Set); err != nil {
			if shape, ok := errors.AsType[*wire.ShapeError](err); ok {
				return set, &wire.ShapeError{Pointer: "/set" + shape.Pointer, Detail: shape.Detail}
			}
			return set, err
		}
	}
	members := map[string]jsontext.Value{}
	for _, key := range config.Keys() {
		text, _ := config.Get(key)
		members[key] = jsontext.Value(text)
	}
	for i, key := range p.Remove {
		if _, err := flat.SplitKey(key); err != nil {
			return set, &wire.ShapeError{Pointer: fmt.Sprintf("/remove/%d", i), Detail: err.Error()}
		}
		if _, sets := set.Get(key); sets {
			return set, setError(key, "the key is also in remove")
		}
		delete(members, key)
	}
	for _, key := range set.Keys() {
		text, _ := set.Get(key)
		if above, ok := strings.CutSuffix(key, ".$secret"); ok && isReference(members[above]) {
			delete(members, above) // no longer a reference
		}
		if isReference(jsontext.Value(text)) {
			delete(members, key+".$secret")
		}
		members[key] = jsontext.Value(text)
	}
	text, err := wire.Encode(members)
	if err != nil {
		return set, err
	}
	patched, err := flat.Parse(text)
	if clash, ok := errors.AsType[*wire.ShapeError](err); ok {
		return set, blameSet(set, clash)
	}
	return patched, err
}

// isReference reports whether the value of a key is a reference to a secret: no other object with members is one.
func isReference(value jsontext.Value) bool { return value.Kind() == '{' && len(value) > len("{}") }

// setError is the error of a key that the patch sets.
func setError(key, detail string) *wire.ShapeError {
	return &wire.ShapeError{Pointer: string(jsontext.Pointer("/set").AppendToken(key)), Detail: detail}
}

// blameSet is the error about a key that holds a value although another key is below it, as an error of the one of the
// two that the patch sets.
func blameSet(set flat.Config, clash *wire.ShapeError) *wire.ShapeError {
	below := jsontext.Pointer(clash.Pointer).LastToken()
	if _, sets := set.Get(below); !sets {
		for _, above := range set.Keys() {
			if strings.HasPrefix(below, above+".") {
				return setError(above, fmt.Sprintf("%q is below it, so it cannot hold a value", below))
			}
		}
	}
	return setError(below, clash.Detail)
}
