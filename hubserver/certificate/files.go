package certificate

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// checkEvery is the time between two looks at the files.
const checkEvery = time.Second

// files is a pair of files that is read again when one of them changes.
type files struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	checked time.Time
	seen    [2]stamp // of the files that were read last, whether they made a pair or not
	current *tls.Certificate
}

// stamp tells two versions of a file apart.
type stamp struct {
	changed time.Time
	size    int64
}

// Files returns a configuration with the certificate chain and the key in two PEM files.
// They are read again when they change; while they do not match, the former pair is used.
func Files(cert, key string, log *slog.Logger) (*tls.Config, error) {
	f := &files{cert: cert, key: key, log: log}
	if err := f.load(f.stamps()); err != nil {
		return nil, err
	}
	return config(f.get, log), nil
}

func (f *files) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.checked) < checkEvery {
		return f.current, nil
	}
	f.checked = time.Now()
	now := f.stamps()
	if now == f.seen {
		return f.current, nil
	}
	if err := f.load(now); err != nil {
		f.log.Error("the new certificate is not used; the former one is kept", "error", err)
	} else {
		f.log.Info("using a new certificate", "file", f.cert, "expires", f.current.Leaf.NotAfter)
	}
	return f.current, nil
}

// stamps returns those of both files, empty ones of files that are absent.
func (f *files) stamps() (now [2]stamp) {
	for i, path := range []string{f.cert, f.key} {
		if info, err := os.Stat(path); err == nil {
			now[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return now
}

// load reads the files, whose stamps before were seen.
func (f *files) load(seen [2]stamp) error {
	f.seen = seen
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", f.cert, f.key, err)
	}
	f.current = &pair
	return nil
}
