package store_test

import (
	"bytes"
	"errors"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestCertificates_AreOrderedByOneHub(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		const name = "hub.example.com"
		order := func() (ours bool) {
			t.Helper()
			write(t, s, func(tx *store.Tx) (err error) {
				ours, err = tx.OrderCertificate(t.Context(), name)
				return err
			})
			return ours
		}
		find := func() ([]byte, error) {
			var data []byte
			err := s.Read(t.Context(), func(v *store.View) (err error) {
				data, err = v.Certificate(t.Context(), name)
				return err
			})
			return data, err
		}
		if !order() || order() {
			t.Error("not exactly one hub may order a certificate that is absent")
		}
		if _, err := find(); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a certificate that is ordered: %v", err)
		}
		execute(t, address, "UPDATE certificates SET changed_at = 1")
		if !order() || order() {
			t.Error("not exactly one hub may order it after the first one took too long")
		}
		for _, data := range []string{"first", "renewed"} {
			write(t, s, func(tx *store.Tx) error { return tx.PutCertificate(t.Context(), name, []byte(data)) })
			if got, err := find(); err != nil || string(got) != data {
				t.Errorf("%q, %v, not %q", got, err, data)
			}
		}
		execute(t, address, "UPDATE certificates SET changed_at = 1")
		if order() {
			t.Error("a certificate that is stored may be ordered")
		}
		write(t, s, func(tx *store.Tx) error { return tx.DeleteCertificate(t.Context(), name) })
		if !order() {
			t.Error("a certificate that was deleted may not be ordered")
		}
	})
}

// A backup must not allow to pose as the hub.
func TestBackup_HoldsNoPrivateKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		write(t, s, func(tx *store.Tx) error {
			return tx.PutCertificate(t.Context(), "hub.example.com", []byte("-----BEGIN EC PRIVATE KEY-----"))
		})
		var backup bytes.Buffer
		if _, err := s.Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		text, err := unzipped(backup.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains([]byte(text), []byte("certificates")) {
			t.Error("the backup has the table of certificates")
		}
	})
}
