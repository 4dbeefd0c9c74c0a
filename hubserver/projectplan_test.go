package hubserver_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
)

const planned = "/v1/projects?dryRun=1"

func TestPlanProject_AnswersAsCreateAndWritesNothing(t *testing.T) {
	small := func(cfg *hubserver.Config) { cfg.Limits.ConfigKeys, cfg.Limits.BaseFiles = 2, 3 }
	eachWith(t, small, func(t *testing.T, hub *testHub) {
		hub.project() // @acme/web
		alice := hub.as("alice")
		api := decoded[wire.API](alice.get("/v1/apis/acme/pets").want(200))
		before := hub.written()
		body := func(rest string) string {
			return `{"account": "acme", "slug": "new", "stack": "acme/site"` + rest + `}`
		}
		plan := decoded[wire.ProjectPlan](alice.post(planned, body("")).want(200))
		if plan.Project.String() != "@acme/new" || plan.StackVersion != "latest" || plan.ResolvedStackVersion == "" ||
			len(plan.SimilarAPIs) != 0 {
			t.Errorf("%+v", plan)
		}
		for _, then := range []string{`"sha256": "` + api.SHA256 + `"`, `"title": "` + api.Title + `"`} {
			plan := decoded[wire.ProjectPlan](alice.post(planned, body(`, "then": {`+then+`}`)).want(200))
			if len(plan.SimilarAPIs) == 0 || plan.SimilarAPIs[0].API != api.API {
				t.Errorf("%s: %+v", then, plan.SimilarAPIs)
			}
		}
		alice.post(planned, body(`, "then": {"configKeys": 2, "baseFiles": 3}`)).want(200)
		alice.post(planned, body(`, "then": {"configKeys": 3}`)).problem(413, wire.CodeTooLarge)
		alice.post(planned, body(`, "then": {"baseFiles": 4}`)).problem(413, wire.CodeTooLarge)
		alice.post(planned, body(`, "api": {"account": "acme", "slug": "none"}`)).problem(422, wire.CodeAPINotFound)
		alice.post(planned, body(`, "stackVersion": "9.9.9"`)).problem(422, wire.CodeStackNotPublished)
		alice.post(planned, strings.Replace(body(""), "acme/site", "acme/none", 1)).problem(422, wire.CodeStackNotPublished)
		alice.post(planned, strings.Replace(body(""), "new", "web", 1)).problem(409, wire.CodeProjectExists)
		alice.post(planned, strings.Replace(body(""), "new", "We b", 1)).problem(422, wire.CodeInvalidBody)
		alice.post(planned, `{"account": "acme", "slug": "new", "copyOf": {"account": "acme", "slug": "web"}}`).problem(422,
			wire.CodeInvalidBody)
		alice.post("/v1/projects?dryRun=true", body("")).problem(422, wire.CodeInvalidBody)
		alice.post("/v1/projects", body("")).problem(422, wire.CodeInvalidBody)
		alice.post("/v1/projects", body(`, "api": {"account": "acme", "slug": "pets"}, "then": {}`)).problem(422,
			wire.CodeInvalidBody)
		hub.as("rita").post(planned, body("")).problem(403, wire.CodeNotPermitted)
		hub.with("").post(planned, body("")).problem(401, wire.CodeUnauthorized)
		if after := hub.written(); after != before {
			t.Errorf("written:\n%s\nbefore:\n%s", after, before)
		}
	})
}
