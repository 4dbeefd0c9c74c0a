package hubserver_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
)

func refusesBodies(path string, send func(path string, body any, headers ...header) *answer) {
	send(path, typed{"text/plain", []byte("{}")}, header{"If-Match": "*"}).want(415)
	send(path, typed{"application/json", []byte("{")}, header{"If-Match": "*"}).want(400)
	send(path, typed{"application/json", []byte(`{"a": "` + strings.Repeat("x", 1<<20) + `"}`)},
		header{"If-Match": "*"}).want(413)
	send(path, typed{"application/json", []byte(`{"unknown": 1}`)}, header{"If-Match": "*"}).want(422)
}

// Each route with a JSON body refuses one of another type, a malformed and a large one.
func TestBodies_OfOtherShapesAreRefused(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	hub.as("alice").push(map[string]string{"a": "b", "dir/a": "b"})
	anna := hub.as("anna")
	anna.put("/v1/bots/acme/crawler", nil)
	for _, path := range []string{
		"/v1/bots/acme/crawler/tokens", "/v1/device", "/v1/device/token", "/v1/invitations", "/v1/links", "/v1/tokens",
		web + "/restore",
		web + "/config/restore", baseFiles + "/restore",
	} {
		refusesBodies(path, anna.post)
	}
	refusesBodies("/v1/members/acme/rita", anna.put)
	anna.delete("/v1/members/acme/WEB").want(404)
	anna.put("/v1/bots/acme/WEB", nil).want(404)
	for _, path := range []string{"/v1/apis/acme/pets/targets", "/v1/projects/acme/web/preview/api"} {
		anna.get(path, header{"If-None-Match": anna.get(path).want(200).etag()}).want(304)
	}
	anna.get("/@acme/web/files/dir?from=x").want(422)

	old := treeOf(t, map[string]string{"a": "b", "dir/a": "b"}).Digest()
	hub.as("alice").push(map[string]string{"a": "c"})
	hub.sql("DELETE FROM blobs WHERE sha256 = '" + sha([]byte("b")) + "'")
	anna.post(baseFiles+"/restore", wire.RestoreBaseFiles{Tree: old}, header{"If-Match": "*"}).problem(409,
		wire.CodePlanOutdated)
}
