package hubclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// fullAnswers are the answers to all calls with every object that they can hold.
func fullAnswers() map[string]http.HandlerFunc {
	files, _ := someFiles()
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	edit := wire.Edit{Revision: former, UpdatedAt: when, UpdatedBy: "carol", UpdatedVia: wire.ViaPage}
	sum := wire.BaseFilesSum{Tree: files.Digest(), Count: len(files), Bytes: files.Bytes()}
	full := wire.Project{Project: project, Stack: "acme/base", StackVersion: "latest", API: project,
		Config: wire.ConfigState{Edit: edit, HasConfig: true}, BaseFiles: &sum}
	written := writtenOf(settings)
	written.Replaced = &wire.Replaced{Config: []byte(`{"old":1}`), Edit: edit}
	version := wire.StackVersion{Stack: "acme/base", Version: "1.0.0"}
	api := wire.API{API: project, Title: "Pets"}
	of := func(status int, v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, status, v) }
	}
	return map[string]http.HandlerFunc{
		"Whoami": of(200, wire.Whoami{User: "alice", Scopes: wire.Scopes, ExpiresAt: &when,
			Accounts: []wire.AccountRole{{Account: "acme", Role: wire.Admin}}}),
		"Limits":         of(200, described()),
		"Project":        of(200, full),
		"Projects":       of(200, wire.Projects{Projects: []wire.Project{full}}),
		"CreateProject":  of(201, full),
		"EditProject":    of(200, full),
		"DeleteProject":  of(200, wire.Deleted{Project: project, Existed: true, RestorableUntil: when}),
		"RestoreProject": of(200, wire.Restored{Project: project}),
		"DeletedProjects": of(200,
			wire.DeletedProjects{Projects: []wire.DeletedProject{{Project: project, DeletedAt: when, DeletedBy: "alice",
				RestorableUntil: when}}}),
		"Config":            of(200, configOf(settings)),
		"ConfigHistory":     of(200, wire.ConfigHistory{Entries: []wire.ConfigEntry{{Edit: edit, Parent: former}}}),
		"ConfigRevision":    of(200, configOf(settings)),
		"PutConfig":         of(200, written),
		"RestoreConfig":     of(200, written),
		"CheckConfig":       of(200, written),
		"CheckSettings":     of(200, wire.CheckedSettings{Findings: []wire.FieldError{{Pointer: "/a", Detail: "a"}}}),
		"BaseFilesRevision": of(200, wire.BaseFiles{BaseFilesSum: sum, Files: files}),
		"BaseFiles":         of(200, wire.BaseFiles{BaseFilesSum: sum, Files: files}),
		"PutBaseFiles": of(200, wire.BaseFilesWritten{Project: project, Tree: files.Digest(),
			BaseFilesPushed: len(files)}),
		"Stack":          of(200, wire.Stack{Stack: "acme/base", Versions: []wire.StackVersion{version}}),
		"PublishVersion": of(201, wire.Published{StackVersion: version}),
		"UploadAPI":      of(201, api),
		"ImportAPI":      of(201, api),
		"API":            of(200, api),
		"APIs":           of(200, wire.APIs{APIs: []wire.API{api}}),
		"UpdateAPI":      of(200, api),
		"UpdateAPIFrom":  of(200, api),
		"DeleteAPI":      of(200, wire.DeletedAPI{API: project, Existed: true}),
		"PatchConfig":    of(200, written),
		"RateLimit":      of(200, wire.RateLimit{Bot: wire.Bot{Account: "acme", BotID: "b"}}),
		"SetRateLimit":   of(200, wire.RateLimit{Bot: wire.Bot{Account: "acme", BotID: "b"}}),
		"StartDevice":    of(200, device),
		"DeviceToken":    of(200, wire.DeviceToken{Token: token}),
		"CreateLink":     of(201, oneTimeLink),
		"Invite":         of(201, oneTimeLink),
		"Bots":           of(200, wire.Bots{Bots: []wire.Bot{{Account: "acme", BotID: "b"}}}),
		"CreateBot":      of(201, wire.Bot{Account: "acme", BotRefID: project.String()}),
		"CreateBotToken": of(201, wire.BotToken{Bot: project.String(), Token: token}),
		"CreateToken":    of(201, wire.CreatedToken{TokenInfo: tokenInfo, Token: token}),
		"Tokens":         of(200, wire.Tokens{Tokens: []wire.TokenInfo{tokenInfo}}),
		"RevokeToken":    of(200, wire.RevokedToken{ID: "1f0c2d9b8a77", Self: true}),
		"Members":        of(200, wire.Members{Members: []wire.Member{{User: "nora", Role: wire.Writer}}}),
		"SetMember":      of(200, wire.Member{User: "nora", Role: wire.Writer}),
		"RemoveMember":   of(200, wire.RemovedMember{Account: "acme", User: "nora", Existed: true}),
		"BotTokens": of(200, wire.BotTokens{Bot: project.String(),
			Tokens: []wire.TokenInfo{{ID: "1f0c2d9b8a77", ExpiresAt: &when}}}),
		"RevokeBotToken": of(200, wire.RevokedBotToken{Bot: project.String(), ID: "1f0c2d9b8a77"}),
		"DeleteBot":      of(200, wire.DeletedBot{Bot: project.String(), Existed: true}),

		"BaseFilesHistory": of(200, wire.BaseFilesHistory{Entries: []wire.BaseFilesEntry{{BaseFilesSum: sum}}}),
		"RestoreBaseFiles": of(200, wire.BaseFilesWritten{Project: project, Tree: files.Digest()}),
	}
}

// notShape are the objects whose members are a user's, by the call that answers them.
var notShape = map[string][]string{"Config": {"/config"}, "ConfigRevision": {"/config"},
	"PutConfig": {"/config", "/replaced/config"}, "RestoreConfig": {"/config", "/replaced/config"},
	"CheckConfig": {"/config", "/replaced/config"}, "PatchConfig": {"/config", "/replaced/config"}}

// later rewrites an answer as a newer hub gives it: every object has one more member.
// It returns how many objects there are.
func later(t *testing.T, recorded *httptest.ResponseRecorder, keep []string) (body []byte, objects int) {
	t.Helper()
	var v any
	dec := json.NewDecoder(recorded.Body)
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var add func(path string, v any)
	add = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if slices.Contains(keep, path) {
				return
			}
			for name, value := range v {
				add(path+"/"+name, value)
			}
			v["zLater"] = map[string]any{"deeper": []any{map[string]any{"a": 1}}}
			objects++
		case []any:
			for i, value := range v {
				add(path+"/"+strconv.Itoa(i), value)
			}
		}
	}
	add("", v)
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body, objects
}

// newer answers as handle does, with one more member in every object.
func newer(t *testing.T, handle http.HandlerFunc, keep []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		handle(recorded, r)
		body, objects := later(t, recorded, keep)
		if objects == 0 {
			t.Errorf("%s has no object", recorded.Body)
		}
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorded.Code)
		w.Write(body)
	}
}

func TestClient_IgnoresUnknownMembersAtEveryDepth(t *testing.T) {
	full := fullAnswers()
	for _, c := range allCalls() {
		handle := full[c.name]
		if handle == nil {
			t.Errorf("%s has no full answer", c.name)
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			play(t, []step{step(newer(t, handle, notShape[c.name]))}, func(ctx context.Context, client *hubclient.Client) {
				if err := c.do(ctx, client); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("a plan", func(t *testing.T) {
		files, open := someFiles()
		b := newHub(t, hubclient.Options{},
			func(w http.ResponseWriter, r *http.Request, _ int) { full["PutBaseFiles"](w, r) })
		b.plan = newer(t, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, wire.PlannedBaseFiles{Current: former, Missing: digestsOf(files)})
		}, nil)
		if _, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(
			t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("a problem", func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			newer(t, func(w http.ResponseWriter, _ *http.Request) {
				var body bytes.Buffer
				json.NewEncoder(&body).Encode(wire.Problem{
					Status: 412, Code: wire.CodeRevisionChanged, Detail: "the reason",
					Errors: []wire.FieldError{{Pointer: "/a", Detail: "no"}}, Current: &wire.Edit{Revision: former},
				})
				w.Header().Set("Hub-Version", "1.2.3")
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(412)
				w.Write(body.Bytes())
			}, nil)(w, r)
		})
		_, err := b.Whoami(t.Context())
		if e := wantCode(t, err, wire.CodeRevisionChanged); len(e.Errors) != 1 || e.Current == nil ||
			e.Current.Revision != former {
			t.Errorf("%+v", e)
		}
	})
}
