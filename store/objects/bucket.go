package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// bucket keeps objects in a bucket, below a prefix.
type bucket struct {
	client  *minio.Client
	name    string
	prefix  string // "" or with a slash at its end
	address string
}

// Limits of one call. Together they end it within tries times tryTime.
const (
	tries       = 4
	tryTime     = 15 * time.Second
	firstWait   = 100 * time.Millisecond
	longestWait = 2 * time.Second
	headerTime  = 10 * time.Second // for the first byte of a response
	metaTime    = 2 * time.Second  // for credentials from the machine's own service
)

// amazon is the endpoint if the address names none.
const amazon = "https://s3.amazonaws.com"

func openBucket(address string) (Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: it is s3://BUCKET/PREFIX?endpoint=URL", ErrAddress) // the cause may quote credentials
	}
	if u.User != nil {
		return nil, fmt.Errorf("%w: credentials do not belong in it, but in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", ErrAddress)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%w: what follows ? cannot be read", ErrAddress)
	}
	for name := range query {
		if !slices.Contains([]string{"endpoint", "region", "path-style"}, name) {
			return nil, fmt.Errorf("%w: %q is not endpoint, region or path-style", ErrAddress, name)
		}
	}
	if err := s3utils.CheckValidBucketNameStrict(u.Host); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	host, secure, err := parseEndpoint(query.Get("endpoint"))
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	switch query.Get("path-style") {
	case "":
	case "true":
		lookup = minio.BucketLookupPath
	case "false":
		lookup = minio.BucketLookupDNS
	default:
		return nil, fmt.Errorf("%w: path-style is true or false", ErrAddress)
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = headerTime
	client, err := minio.New(host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: metaTime}},
		}),
		Secure: secure, Region: query.Get("region"), BucketLookup: lookup, Transport: transport,
		MaxRetries: 1, // another one would rewind a body that the one before may still read
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	b := &bucket{client: client, name: u.Host, address: address}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	return b, nil
}

// parseEndpoint returns the host and port of an endpoint, and whether it uses TLS.
func parseEndpoint(endpoint string) (host string, secure bool, err error) {
	if endpoint == "" {
		endpoint = amazon
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", false, fmt.Errorf("%w: its endpoint is not https://HOST[:PORT] or http://HOST[:PORT]", ErrAddress)
	}
	return u.Host, u.Scheme == "https", nil
}

func (b *bucket) String() string { return b.address }

// retry runs one call, and runs it again after a failure that may pass.
func retry[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	once := func() (T, error) {
		ctx, cancel := context.WithTimeout(ctx, tryTime)
		defer cancel()
		result, err := call(ctx)
		return result, meaning(err)
	}
	waits := &backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: longestWait}
	result, err := backoff.Retry(ctx, once, backoff.WithBackOff(waits), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(tries*tryTime))
	return result, final(err)
}

// final returns an error without the mark that another try is of no use.
func final(err error) error {
	if last, ok := errors.AsType[*backoff.PermanentError](err); ok {
		return last.Unwrap()
	}
	return err
}

// meaning says what an error means, and whether another try is of use.
func meaning(err error) error {
	if err == nil || errors.Is(err, ErrSize) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return backoff.Permanent(err)
	}
	said := minio.ToErrorResponse(err)
	switch {
	case said.Code == minio.NoSuchKey:
		return backoff.Permanent(fs.ErrNotExist)
	case said.StatusCode == http.StatusInsufficientStorage, said.Code == "XMinioStorageFull", said.Code == "QuotaExceeded":
		return backoff.Permanent(fmt.Errorf("%w: %w", ErrFull, err))
	case said.StatusCode >= 400 && said.StatusCode < 500 && said.StatusCode != http.StatusRequestTimeout && said.StatusCode != http.StatusTooManyRequests &&
		!slices.Contains(corrupted, said.Code):
		return backoff.Permanent(fmt.Errorf("%w: it refuses the request: %w", ErrUnavailable, err))
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// corrupted are refusals of a body that was changed or cut off on its way.
var corrupted = []string{"BadDigest", "InvalidDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "RequestTimeout"}

func (b *bucket) Put(ctx context.Context, key string, body []byte) error {
	_, err := retry(ctx, func(ctx context.Context) (struct{}, error) {
		// The bucket compares what arrives with its MD5, even where TLS keeps the
		// signature from covering it.
		options := minio.PutObjectOptions{SendContentMd5: true, DisableMultipart: true, ContentType: "application/octet-stream"}
		put, err := b.client.PutObject(ctx, b.name, b.prefix+key, bytes.NewReader(body), int64(len(body)), options)
		if err != nil {
			return struct{}{}, err
		}
		found, err := b.client.StatObject(ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
		if err == nil && (found.Size != int64(len(body)) || found.ETag != put.ETag) {
			err = fmt.Errorf("%s: %w: %d bytes after the upload of %d", key, ErrSize, found.Size, len(body))
		}
		if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
			err = fmt.Errorf("%s does not exist after its upload", key)
		}
		return struct{}{}, err
	})
	if errors.Is(err, ErrSize) {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

func (b *bucket) Get(ctx context.Context, key string, size int64) ([]byte, error) {
	return retry(ctx, func(ctx context.Context) ([]byte, error) {
		object, info, _, err := minio.Core{Client: b.client}.GetObject(ctx, b.name, b.prefix+key, minio.GetObjectOptions{})
		if err != nil {
			return nil, err
		}
		defer object.Close()
		if info.Size != size {
			return nil, backoff.Permanent(fmt.Errorf("%s: %w: %d bytes, not %d", key, ErrSize, info.Size, size))
		}
		body := make([]byte, size)
		_, err = io.ReadFull(object, body)
		return body, err
	})
}

func (b *bucket) Remove(ctx context.Context, key string) error {
	_, err := retry(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.client.RemoveObject(ctx, b.name, b.prefix+key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (b *bucket) List(ctx context.Context, each func(key string) error) error {
	ctx, cancel := context.WithCancel(ctx) // ends the listing when each fails
	defer cancel()
	for found := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
		if found.Err != nil {
			return final(meaning(found.Err))
		}
		if err := each(strings.TrimPrefix(found.Key, b.prefix)); err != nil {
			return err
		}
	}
	return ctx.Err()
}
