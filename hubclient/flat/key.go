package flat

import (
	"errors"
	"strings"
)

var escaper = strings.NewReplacer(`.`, `\.`, `\`, `\\`)

func escape(name string) string {
	if strings.IndexByte(name, '.') < 0 && strings.IndexByte(name, '\\') < 0 { // as nearly all
		return name
	}
	return escaper.Replace(name)
}

// Key returns the flat key of the setting that the path of member names leads
// to: the names joined by dots, with \ before every dot and \ inside a name. A
// path has at least one name, which may be empty.
func Key(path ...string) string {
	escaped := make([]string, len(path))
	for i, name := range path {
		escaped[i] = escape(name)
	}
	return strings.Join(escaped, ".")
}

// SplitKey returns the path that key names. It fails on a \ that escapes nothing.
func SplitKey(key string) ([]string, error) {
	if !strings.Contains(key, `\`) {
		return strings.Split(key, "."), nil
	}
	var path []string
	var name []byte
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case c == '.':
			path = append(path, string(name))
			name = name[:0]
		case c != '\\':
			name = append(name, c)
		case i+1 < len(key) && (key[i+1] == '.' || key[i+1] == '\\'):
			i++
			name = append(name, key[i])
		default:
			return nil, errors.New(`a \ in a key has to stand before . or \`)
		}
	}
	return append(path, string(name)), nil
}
