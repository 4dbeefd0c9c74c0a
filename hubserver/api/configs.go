package api

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/secret"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// getConfig responds with the config of a project, or with ?revision=DIGEST with a former one.
func getConfig(c *request.Call) error {
	config, err := requestedRevision(c, "revision", formerConfig, newestConfig)
	if err != nil || c.Unmodified(config.Digest) {
		return err
	}
	return c.JSON(http.StatusOK, wire.Config{
		Project: c.Ref(), Config: jsontext.Value(config.Content),
		ConfigState: wire.ConfigState{HasConfig: config.HasConfig(), Edit: toEdit(config)},
	})
}

// newestConfig returns the config of the project that the path names. If it is damaged, it returns a problem
// together with the revision, which then has a digest and no content.
func newestConfig(c *request.Call) (newest store.Revision, err error) {
	if a := c.Access; a != nil && a.Config.N != 0 { // it was read with the rights
		newest = a.Config
		a.Config = store.Revision{} // a second try reads it from the database
		err = newest.Decode()
	} else {
		newest, err = c.View().Newest(c.Resource.ID, store.Config)
	}
	if errors.Is(err, store.ErrDamaged) {
		return newest, request.Problemf(http.StatusInternalServerError, wire.CodeDamaged,
			"the stored bytes of the config of %s are damaged", c.Ref()).Because(err).
			WithHint("replace it: tool push NAME --force, or tool restore NAME REVISION --force")
	}
	return newest, resourceProblem(c, err)
}

// toEdit returns who wrote a revision, and when. Both are empty for the config that a new project has.
func toEdit(r store.Revision) wire.Edit {
	if !r.Written() {
		return wire.Edit{Revision: r.Digest}
	}
	return wire.Edit{Revision: r.Digest, UpdatedAt: r.At.Time(), UpdatedBy: r.User, UpdatedVia: wire.Via(r.Via)}
}

// putConfig replaces the config of a project, or with ?restore=1 records that as a restore.
func putConfig(c *request.Call) error {
	via := wire.ViaPush
	if q := c.R.URL.Query(); q.Has("restore") {
		if n := q.Get("restore"); n != "1" {
			return request.InvalidBody("", "restore must be 1, not %q", n)
		}
		via = wire.ViaRestore
	}
	return replaceConfig(c, configWrite{via: via})
}

// checkConfig is a dry run of putConfig.
func checkConfig(c *request.Call) error {
	dryRun, err := isDryRun(c)
	if err != nil {
		return err
	}
	if !dryRun {
		return request.InvalidBody("", "dryRun=1 is required: use PUT to replace the config")
	}
	return replaceConfig(c, configWrite{via: wire.ViaPush, dryRun: true})
}

func replaceConfig(c *request.Call, w configWrite) error {
	body, err := c.ReadText("the body", c.Hub.Limits.ConfigBytes+request.MaxJSON)
	if err != nil {
		return err
	}
	config, found, err := flat.FoldMember(body, "settings", "source") // see wire.PutConfig
	if err != nil {
		return request.BodyProblem(err)
	}
	if err := checkLimits(c, config.Measure()); err != nil {
		return err
	}
	if c.Condition().New {
		w.via = wire.ViaCreate
	}
	if found {
		w.config = &config
	}
	return answerConfig(c, w)
}

// isDryRun reports whether the query asks what a write would do, without doing it.
func isDryRun(c *request.Call) (bool, error) {
	q := c.R.URL.Query()
	if n := q.Get("dryRun"); q.Has("dryRun") && n != "1" {
		return false, request.InvalidBody("", "dryRun must be 1, not %q", n)
	}
	return q.Has("dryRun"), nil
}

// patchConfig changes some keys of the config of a project. With ?dryRun=1 it answers the same, and writes nothing.
// It needs If-Match.
func patchConfig(c *request.Call) error {
	dryRun, err := isDryRun(c)
	if err != nil {
		return err
	}
	var req wire.PatchConfig
	if _, err := c.ReadJSON("the body", c.Hub.Limits.ConfigBytes+request.MaxJSON, &req); err != nil {
		return err
	}
	// What is wrong with the request itself is reported before its condition.
	if _, err := applyPatch(flat.Config{}, &req); err != nil {
		return request.BodyProblem(err)
	}
	if err := needIfMatch(c, "a PATCH", "send the ETag of the config that the change is based on"); err != nil {
		return err
	}
	return answerConfig(c, configWrite{via: wire.ViaAPI, patch: &req, dryRun: dryRun})
}

// needIfMatch returns a 428 with hint unless the request has If-Match.
func needIfMatch(c *request.Call, what, hint string) error {
	if _, conditional := c.R.Header["If-Match"]; conditional {
		return nil
	}
	return request.Problemf(http.StatusPreconditionRequired, wire.CodePreconditionRequired, "%s needs If-Match", what).
		WithHint("%s", hint)
}

// restoreConfig writes a former config again. It needs If-Match.
func restoreConfig(c *request.Call, req *wire.RestoreConfig) error {
	if !tree.ValidDigest(req.Revision) {
		return request.InvalidBody("/revision", "must be 64 lower-case hex digits, not %q", req.Revision)
	}
	if err := needIfMatch(c, "a restore", "send the ETag of the config that it is to replace"); err != nil {
		return err
	}
	former, err := formerConfig(c, req.Revision)
	if err != nil {
		return err
	}
	config, err := flat.Parse(former.Content)
	if err != nil {
		return err
	}
	if err := checkLimits(c, config.Measure()); err != nil {
		return err
	}
	return answerConfig(c, configWrite{via: wire.ViaRestore, config: &config})
}

// configWrite replaces a config by config, or applies patch to it. A PUT without settings has neither: it writes
// nothing, and is answered with the present config.
type configWrite struct {
	via    wire.Via
	config *flat.Config
	patch  *wire.PatchConfig
	dryRun bool // check and answer only

	condition   store.Condition // of the request
	by          store.Author
	credentials []wire.FieldError // settings that look like credentials
}

// writes reports whether the write changes the config, or would without dryRun.
func (w *configWrite) writes() bool { return w.config != nil || w.patch != nil }

func (w *configWrite) apply(c *request.Call, former store.Revision) (config flat.Config, err error) {
	if w.config != nil {
		return *w.config, nil
	}
	if config, err = flat.Parse(former.Content); err != nil || w.patch == nil {
		return config, err
	}
	if config, err = applyPatch(config, w.patch); err != nil {
		return config, request.BodyProblem(err)
	}
	return config, checkLimits(c, config.Measure())
}

// patience bounds how long a write is tried again because another write was first. Of many writes of the same
// config at once, one succeeds each time.
const patience = 5 * time.Second

// answerConfig makes a write if the request's conditions are met, 412 if not, and responds with the config, and the one
// that it replaced. It tries again as long as another write is first.
func answerConfig(c *request.Call, w configWrite) (err error) {
	w.condition = c.Condition()
	if w.by, err = c.Author(string(w.via)); err != nil {
		return err
	}
	// The second try finds out whether the condition is still met, however long the first one took.
	for began, tries := time.Now(), 0; tries < 2 || time.Since(began) < patience; tries++ {
		answer, err := tryConfig(c, w)
		if err == nil {
			c.W.Header().Set("ETag", request.ETag(answer.Revision))
			return c.JSON(http.StatusOK, answer)
		}
		if !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrUnchecked) {
			return resourceProblem(c, err)
		}
		select {
		case <-time.After(rand.N(20 * time.Millisecond)): // jitter, so that retries do not collide
		case <-c.Ctx().Done():
			return c.Ctx().Err()
		}
	}
	return request.Unavailable(1, "the config of %s keeps changing; try again", c.Ref())
}

// tryConfig reads the config, checks the write against it, and makes it. It fails with ErrChanged if the config
// was changed meanwhile, and with ErrUnchecked if the schema was.
func tryConfig(c *request.Call, w configWrite) (*wire.ConfigWritten, error) {
	before, damage := newestConfig(c)
	replaces := before.N != 0 && w.config != nil // a whole config may replace one that is damaged
	if damage != nil && !replaces {
		return nil, damage
	}
	if !w.condition.HoldsConfig(before) {
		return nil, configChanged(c, w.condition, before)
	}
	config, err := w.apply(c, before)
	if err != nil {
		return nil, err
	}
	rule, err := settingsSchema(c)
	if err != nil {
		return nil, err
	}
	findings, err := w.check(c, rule, config)
	if err != nil {
		return nil, err
	}
	after := store.Revision{Content: config.Canonical()}
	w.credentials = secret.InSettings(config, after.Content)
	if w.writes() && w.credentials != nil && c.Resource.Visibility == string(wire.Public) {
		return nil, refuseCredentials(w.credentials)
	}
	findings = append(findings, w.credentials...)
	if w.writes() && !w.dryRun {
		before, after, err = saveConfig(c, w, before, after.Content, rule.Digest)
	} else {
		after.Digest = store.Digest(after.Content)
	}
	if err != nil {
		return nil, err
	}
	answer := &wire.ConfigWritten{
		Project: c.Ref(), Config: jsontext.Value(after.Content), Revision: after.Digest,
		EnrichmentCount: config.EnrichmentCount(), Findings: findings,
		OverwroteExistingConfig: w.writes() && before.HasConfig() && damage == nil,
		StackVersion:            rule.Withdrawn, UseStackVersion: rule.UseVersion,
	}
	if answer.OverwroteExistingConfig {
		answer.Replaced = &wire.Replaced{Config: jsontext.Value(before.Content), Edit: toEdit(before)}
	}
	return answer, nil
}

// check returns what the stack's schema does not allow. It is an error for a write if the schema is enforced.
func (w *configWrite) check(
	c *request.Call, rule store.SettingsSchema, config flat.Config,
) ([]wire.FieldError, error) {
	enforced := rule.Enforced && w.writes()
	findings, err := checkSettings(c, rule, config)
	switch {
	case err != nil && enforced:
		return nil, err
	case err != nil:
		c.Hub.Log.Warn("settings were not checked", "request", c.ID, "project", c.Ref().String(), "error", err)
		const unchecked = "the settings could not be checked against the stack's schema"
		return []wire.FieldError{{Detail: unchecked}}, nil
	case enforced && len(findings) > 0:
		return nil, settingsInvalid(findings)
	}
	return findings, nil
}

// settingsSchema returns which schema the settings of the project that the path names have to pass.
func settingsSchema(c *request.Call) (rule store.SettingsSchema, err error) {
	if a := c.Access; a != nil && a.Schema.StackID != 0 {
		rule = a.Schema                   // it was read with the rights
		a.Schema = store.SettingsSchema{} // a second try reads it from the database
		return rule, nil
	}
	return c.View().SettingsSchema(c.Resource.ID)
}

// saveConfig writes a config, and returns the revisions before and after. schema is the digest of the schema that the
// settings were checked against, "" for none.
func saveConfig(
	c *request.Call, w configWrite, former store.Revision, body []byte, schema string,
) (before, after store.Revision, err error) {
	write, err := store.PrepareConfig(former, body, w.by)
	if err != nil {
		return before, after, err
	}
	write.Checked = schema
	if w.patch != nil {
		w.condition.Match = []string{former.Digest}
	}
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		if w.credentials != nil { // the project may have become public meanwhile
			now, err := tx.LockProject(c.Resource.ID)
			if err != nil {
				return done, err
			}
			if now.Visibility == string(wire.Public) {
				return done, refuseCredentials(w.credentials)
			}
		}
		// Both are set each time, because this may run again.
		before, after, err = tx.WriteConfig(c.Resource.ID, write, w.condition)
		if err == nil && after.N != before.N {
			done = c.Did("config.write", before.Digest+" to "+after.Digest)
		}
		return done, err
	})
	return before, after, err
}

func configChanged(c *request.Call, condition store.Condition, now store.Revision) error {
	p := request.RevisionChanged("the config of " + c.Ref().String() + " is not the one that If-Match names")
	condition.Match = nil
	if !condition.HoldsConfig(now) {
		p = request.RevisionChanged(c.Ref().String() + " already has a config")
	}
	edit := toEdit(now)
	p.Current = &edit
	if edit.UpdatedBy != "" {
		p.Hint = "it was written by " + edit.UpdatedBy + " through " + edit.UpdatedVia.Phrase() +
			" on " + request.FormatTime(edit.UpdatedAt)
	}
	return p
}

// checkLimits returns a 413 for a config of these measures that is beyond the hub's limits.
func checkLimits(c *request.Call, config flat.Limits) error {
	l := c.Hub.Limits
	if err := config.Check(flat.Limits{Bytes: l.ConfigBytes, Keys: l.ConfigKeys, Depth: l.ConfigDepth}); err != nil {
		return request.Problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge, "%v", err)
	}
	return nil
}
