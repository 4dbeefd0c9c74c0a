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
	"hash/crc32"
	"math/big"
	"strings"
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

// idLength is the length of an ID, in hex digits.
const idLength = 12

// ID returns what lists show of a token, and what revocations name: the first digits of
// its hash.
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
