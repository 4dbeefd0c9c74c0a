package workspace

import (
	"os"
	"testing"
	"time"

	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/flat"
)

// ParseClient reads the text of a client.json that is in no file.
func ParseClient(text []byte) (*Client, error) {
	doc, err := parse(".tool/web/client.json", text)
	if err != nil {
		return nil, err
	}
	return (&Project{Name: "web"}).clientOf(doc)
}

// ParseInEnvironment reads the texts of a client.json and of an environment that are in no files.
func ParseInEnvironment(client, env []byte) (*Client, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer w.root.Close()
	c, err := ParseClient(client)
	if err != nil {
		return nil, err
	}
	c.local.Workspace = w
	doc, err := parse("client.prod.json", env)
	if err != nil {
		return nil, err
	}
	e, err := environmentOf(doc)
	if err != nil {
		return nil, err
	}
	return c, c.apply(e)
}

// Workspace is where c was read.
func (c *Client) Workspace() *Workspace { return c.local.Workspace }

// SetField is what Record makes of a text.
func SetField(text []byte, field, value string) ([]byte, error) {
	doc, err := parse("client.json", text)
	if err != nil {
		return nil, err
	}
	return setField(doc, field, value), nil
}

// SetConfig is what Plan makes of a text.
func SetConfig(text []byte, config flat.Config) ([]byte, error) {
	doc, err := parse("client.json", text)
	if err != nil {
		return nil, err
	}
	nested, err := jsonedit.ParseValue(config.Unfold())
	if err != nil {
		return nil, err
	}
	return setSettings(doc, nested)
}

// Replace is Plan and Apply.
func (c *Client) Replace(config flat.Config) (changed []string, err error) {
	edits, err := c.Plan(config)
	if err != nil {
		return nil, err
	}
	return c.Apply(edits)
}

// OnSync puts f in the place of fsync for the rest of the test.
func OnSync(t *testing.T, f func(*os.File) error) {
	old := syncFile
	syncFile = f
	t.Cleanup(func() { syncFile = old })
}

// LockOf returns the lock that writers of a directory take.
var LockOf = lockOf

// LockTime makes writers wait for another one no longer than d for the rest of the test.
func LockTime(t *testing.T, d time.Duration) {
	old := lockTime
	lockTime = d
	t.Cleanup(func() { lockTime = old })
}

// OnExchange puts f in the place of the exchange of two files for the rest of the test.
func OnExchange(t *testing.T, f func(root *os.Root, from, to string) error) {
	old := exchangeFiles
	exchangeFiles = f
	t.Cleanup(func() { exchangeFiles = old })
}

// ReadResolved reads a path as if its symlinks had just been resolved.
func ReadResolved(w *Workspace, name string) ([]byte, error) { return w.readAll(name) }

// CountPositions counts how often a position is computed until the test ends.
func CountPositions(t *testing.T) *int {
	n, usual := 0, position
	position = func(d *jsonedit.Document, offset int) (int, int) {
		n++
		return usual(d, offset)
	}
	t.Cleanup(func() { position = usual })
	return &n
}
