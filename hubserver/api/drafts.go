package api

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// createDraft stores a change of a config for others to look at. Its ID is a secret, so that no response is stored
// for an Idempotency-Key. A repeated request creates a second draft, which does no harm.
func createDraft(c *request.Call) error {
	var req wire.CreateDraft
	if _, err := c.ReadJSON("the body", c.Hub.Limits.ConfigBytes+request.MaxJSON, &req); err != nil {
		return err
	}
	if !tree.ValidDigest(req.Base) {
		return request.InvalidBody("/base", "must be a revision of the config, 64 lower-case hex digits")
	}
	set, err := applyPatch(flat.Config{}, &req.PatchConfig)
	if err != nil {
		return request.BodyProblem(err)
	}
	if err := checkLimits(c, set.Measure()); err != nil {
		return err
	}
	change, err := wire.Encode(req.PatchConfig)
	if err != nil {
		return err
	}
	id := request.NewSecret()
	draft := store.Draft{
		Hash: pat.Hash(id), Base: req.Base, Body: store.Compress(change), CreatedBy: c.Access.Name(),
	}
	err = c.Write(func(tx *store.Tx) (request.Done, error) {
		d := draft // a copy, because this may run again
		err := tx.AddDraft(c.Resource.ID, &d)
		answer := wire.CreatedDraft{ID: id, ExpiresAt: d.ExpiresAt.Time()}
		return c.Did("draft.create", d.Base).With(http.StatusCreated, answer), err
	})
	return resourceProblem(c, err)
}

func getDraft(c *request.Call) error {
	draft, err := c.View().Draft(c.Resource.ID, pat.Hash(c.Param("draft")))
	if errors.Is(err, store.ErrNotFound) {
		return request.NotFound("draft").WithHint("the hub keeps a draft for seven days, unless it is deleted")
	}
	if err != nil {
		return err
	}
	change, err := store.Decompress(nil, draft.Body, c.Hub.Limits.ConfigBytes+request.MaxJSON)
	if err != nil {
		return err
	}
	answer := wire.Draft{
		CreatedBy: draft.CreatedBy, CreatedAt: draft.CreatedAt.Time(), ExpiresAt: draft.ExpiresAt.Time(),
	}
	if err := json.Unmarshal(change, &answer.PatchConfig); err != nil {
		return err
	}
	answer.Base = draft.Base
	return c.JSON(http.StatusOK, answer)
}

// deleteDraft deletes a draft. Like reading one, it needs the role reader and the secret.
func deleteDraft(c *request.Call) error {
	err := c.Write(func(tx *store.Tx) (done request.Done, err error) {
		existed, err := tx.DeleteDraft(c.Resource.ID, pat.Hash(c.Param("draft")))
		if existed {
			done = c.Did("draft.delete", "")
		}
		return done.With(http.StatusOK, wire.DeletedDraft{Existed: existed}), err
	})
	return resourceProblem(c, err)
}
