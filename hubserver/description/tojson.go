package description

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns a description that [Parse] accepts as JSON. Numbers keep their text, and
// references stay references.
func JSON(ctx context.Context, data []byte, reserve Reserve) ([]byte, error) {
	step := func(bytes int64) error {
		if ctx.Err() != nil {
			return fmt.Errorf("read an API description: %w", context.Cause(ctx))
		}
		return reserve(bytes)
	}
	first := treeMemory(data)
	if err := step(first); err != nil {
		return nil, err
	}
	root, _, err := readTree(data, func(values int) error {
		return step(max(first, 2*int64(len(data))+valueCost*int64(values)))
	})
	if err != nil {
		return nil, err
	}
	size := root.jsonSize()
	if err := step(2*int64(len(data)) + valueCost*int64(root.size()) + size); err != nil {
		return nil, err
	}
	return root.appendJSON(make([]byte, 0, size)), nil
}

// jsonSize bounds the length of n as JSON. A character takes at most six bytes.
func (n *node) jsonSize() int64 {
	size := 6*int64(len(n.name)+len(n.text)) + 8
	for _, child := range n.children {
		size += child.jsonSize()
	}
	return size
}

func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case null:
		return append(b, "null"...)
	case text:
		b, _ = jsontext.AppendQuote(b, n.text) // fails on what is not UTF-8, which was refused
		return b
	case array, object:
		open, end := byte('['), byte(']')
		if n.kind == object {
			open, end = '{', '}'
		}
		b = append(b, open)
		for i, child := range n.children {
			if i > 0 {
				b = append(b, ',')
			}
			if n.kind == object {
				b, _ = jsontext.AppendQuote(b, child.name)
				b = append(b, ':')
			}
			b = child.appendJSON(b)
		}
		return append(b, end)
	}
	return append(b, n.text...)
}
