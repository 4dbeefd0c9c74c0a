// Package objects keeps objects, named byte strings that never change, outside the
// database: in a directory, or in a bucket that is reached by the S3 protocol. It knows
// nothing of packs, accounts or databases.
package objects

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Store is a place for objects. It is safe for concurrent use. Each call tries again, a
// few times, what may succeed then.
type Store interface {
	// Put stores an object. It returns nil when the object is durable and has been found
	// there with the size and digest of body.
	Put(ctx context.Context, key string, body []byte) error
	// Get returns an object of size bytes: fs.ErrNotExist when there is none, ErrSize
	// when it has another size.
	Get(ctx context.Context, key string, size int64) ([]byte, error)
	// Remove removes an object, and what an interrupted Put of it left. One that does not
	// exist is no error.
	Remove(ctx context.Context, key string) error
	// List calls each with the keys of all objects.
	List(ctx context.Context, each func(key string) error) error
	// String returns the store's address. It contains no credentials.
	String() string
}

// What a caller can tell apart, besides fs.ErrNotExist.
var (
	ErrAddress     = errors.New("malformed address of an object store")
	ErrUnavailable = errors.New("the object store does not answer")
	ErrFull        = errors.New("the object store is full")
	ErrSize        = errors.New("the object has another size")
)

// Open returns the store at address: file:DIR, or
// s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&path-style=true]. A directory is created
// if create is set; a bucket must exist, and is not contacted.
func Open(address string, create bool) (Store, error) {
	if dir, ok := strings.CutPrefix(address, "file:"); ok && dir != "" {
		return openDirectory(dir, create)
	}
	if strings.HasPrefix(address, "s3://") {
		return openBucket(address)
	}
	return nil, fmt.Errorf("%w: it is file:DIR or s3://BUCKET", ErrAddress)
}
