// Package pat knows what a personal access token looks like: hubpat_, 32 base62
// characters, and 6 more that check them, so that a mistyped one is refused
// before any call and a leaked one is found in a file.
//
// It knows neither who owns a token nor what it may do.
package pat

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"strconv"
	"strings"
	"time"
)

const (
	prefix   = "hubpat_"
	random   = 32 // base62 characters, 190 bits
	checksum = 6  // base62 characters of the CRC-32 (IEEE) over prefix and random part
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	shown = 12 // characters of a token that may be shown
)

// Length is the number of bytes of every token: a scanner of a stream with
// [Index] keeps the last Length-1 bytes of each piece for the next.
const Length = len(prefix) + random + checksum

// New returns a fresh token from the system's random source.
func New() string {
	b := []byte(prefix)
	size := big.NewInt(int64(len(alphabet)))
	for range random {
		n, err := rand.Int(rand.Reader, size)
		if err != nil {
			panic(err) // crypto/rand never fails on a supported system
		}
		b = append(b, alphabet[n.Int64()])
	}
	return string(append(b, check(b)...))
}

func check(b []byte) []byte {
	sum := crc32.ChecksumIEEE(b)
	out := make([]byte, checksum)
	for i := checksum - 1; i >= 0; i-- {
		out[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return out
}

// Valid reports whether token has the form of a token and its checksum holds.
func Valid(token string) bool {
	if len(token) != Length || !strings.HasPrefix(token, prefix) {
		return false
	}
	body, sum := token[:Length-checksum], token[Length-checksum:]
	for i := len(prefix); i < len(body); i++ {
		if strings.IndexByte(alphabet, body[i]) < 0 {
			return false
		}
	}
	return string(check([]byte(body))) == sum
}

// Hash returns what a hub stores of a token: its SHA-256 as lower-case hex. A
// plain hash is enough, because a token carries far more entropy than can be guessed.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

const idLength = 12

// ID returns the first digits of a token's hash, which lists show and revocations name.
func ID(token string) string { return Hash(token)[:idLength] }

// ValidID reports whether id has the form of an ID.
func ValidID(id string) bool {
	return len(id) == idLength && strings.Trim(id, "0123456789abcdef") == ""
}

// Shown returns the part of a well-formed token that messages may show: its
// first 12 characters. Of anything else it returns nothing.
func Shown(token string) string {
	if !Valid(token) {
		return ""
	}
	return token[:shown]
}

// Index returns the offset of the first valid token in b, or -1.
func Index(b []byte) int {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte(prefix))
		if i < 0 {
			return -1
		}
		from += i
		if end := from + Length; end <= len(b) && Valid(string(b[from:end])) {
			return from
		}
		from += len(prefix)
	}
}

// redacted replaces what looks like a token but is not one.
const redacted = "(redacted)"

// mark is a part of every token that is rarely found in other text. Without its
// first letters, as a careless copy has it, a token is still one.
const mark = "pat_"

// leastSecret is how many characters behind mark are taken for a cut or mistyped
// token, though it does not start like one.
const leastSecret = 20

// Redact returns text with at most the first 12 characters of each token in it,
// and nothing of what a mistyped or cut one still has.
func Redact(text string) string {
	var b strings.Builder
	done := 0
	for from := 0; ; {
		at := indexFold(text[from:], mark)
		if at < 0 {
			break
		}
		at += from
		start, end := at, at+len(mark)
		for start > from && isWord(text[start-1]) {
			start--
		}
		for end < len(text) && isWord(text[end]) {
			end++
		}
		word := text[start:end]
		if shorter := redactWord(word, at-start); shorter != word {
			b.WriteString(text[done:start])
			b.WriteString(shorter)
			done = end
		}
		from = end
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

func redactWord(word string, at int) string {
	first := at + len(mark) - len(prefix) // where the prefix of a token would start
	if i := Index([]byte(word)); i >= 0 {
		return word[i:i+shown] + "…"
	}
	hasPrefix := first >= 0 && strings.EqualFold(word[first:first+len(prefix)], prefix)
	secret := word[at+len(mark):]
	switch {
	case hasPrefix && (secret == "" || len(word)-first == shown): // the name of the form, or what Shown returns
		return word
	case hasPrefix:
		return word[:first] + redacted
	case len(secret) >= leastSecret:
		return redacted
	}
	return word
}

// isWord reports whether c can be in a token, or be mistyped into one.
func isWord(c byte) bool { return strings.IndexByte(alphabet, c) >= 0 || c == '_' || c == '-' }

// indexFold returns the offset of the first part in text, in capitals or not, or -1.
func indexFold(text, part string) int {
	for i := 0; i+len(part) <= len(text); i++ {
		if c := text[i] | 0x20; c == part[0] && strings.EqualFold(text[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// MaxLifetime bounds the lifetime of a token that expires, because later times would overflow.
const MaxLifetime = 100 * 365 * 24 * time.Hour

// ParseLifetime reads 12h, 90d, 52w or never, which is 0.
func ParseLifetime(s string) (time.Duration, error) {
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if s == "never" {
		return 0, nil
	}
	if s != "" {
		n, err := strconv.ParseUint(s[:len(s)-1], 10, 64)
		unit := units[s[len(s)-1]]
		switch {
		case unit == 0 || err != nil && !errors.Is(err, strconv.ErrRange) || n == 0:
		case n > uint64(MaxLifetime/unit):
			return 0, fmt.Errorf("%q is more than 100 years: give less, or never for a token that does not expire", s)
		default:
			return time.Duration(n) * unit, nil
		}
	}
	return 0, fmt.Errorf("%q is not a lifetime: give hours, days or weeks, such as 12h, 90d or 52w, or never", s)
}
