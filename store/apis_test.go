package store_test

import (
	"errors"
	"testing"

	"example.com/projecthub/store"
)

func TestPiece_IsOfTheDocumentThatWasDescribed(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		ctx, pets := t.Context(), mustRef(t, "@acme/pets")
		document := func(text string) (*store.API, *store.Document) {
			return &store.API{Account: "acme", Slug: "pets", SHA256: text}, &store.Document{Text: []byte(text)}
		}
		write(t, s, func(tx *store.Tx) error {
			api, first := document("first")
			return tx.CreateAPI(ctx, api, first, false)
		})
		piece := func(body *store.Body) (text []byte, err error) {
			return text, s.Read(ctx, func(v *store.View) error {
				text, err = v.Piece(ctx, body, 0)
				return err
			})
		}
		var body *store.Body
		err := s.Read(ctx, func(v *store.View) (err error) {
			body, err = v.Document(ctx, pets)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := piece(body); err != nil || string(text) != "first" {
			t.Errorf("%q, %v", text, err)
		}
		write(t, s, func(tx *store.Tx) error {
			api, second := document("second")
			_, err := tx.UpdateAPI(ctx, pets, api, second)
			return err
		})
		if text, err := piece(body); !errors.Is(err, store.ErrReplaced) || errors.Is(err, store.ErrDamaged) {
			t.Errorf("after an update: %q, %v, want ErrReplaced", text, err)
		}
		write(t, s, func(tx *store.Tx) error {
			_, err := tx.DeleteAPI(ctx, pets)
			return err
		})
		if text, err := piece(body); !errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
			t.Errorf("after a deletion: %q, %v, want ErrNotFound", text, err)
		}
	})
}
