package store

import (
	"context"
	"time"

	"example.com/projecthub/store/sqldb"
)

// Certificate returns what autocert has cached under a name: a certificate with its key, or its account's key.
// ErrNotFound if there is nothing.
func (v View) Certificate(name string) (data []byte, err error) {
	err = v.One(sqldb.Row(&data), "SELECT data FROM certificates WHERE name = ?", name)
	return data, err
}

// PutCertificate stores data under a name.
func (tx *Tx) PutCertificate(name string, data []byte) error {
	return tx.exec(`INSERT INTO certificates (name, data) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET data = excluded.data`, name, data)
}

// DeleteCertificate deletes what is stored under a name.
func (tx *Tx) DeleteCertificate(name string) error {
	return tx.exec("DELETE FROM certificates WHERE name = ?", name)
}

// orderTime is how long only one hub may order a certificate.
const orderTime = 2 * time.Minute

// OrderCertificate reports whether this hub may now order the certificate with a name, which is not stored. Only one
// hub may at a time, because authorities issue few for one name.
func (s *Store) OrderCertificate(ctx context.Context, name string) (bool, error) {
	return s.due(ctx, "certificate "+name, orderTime)
}
