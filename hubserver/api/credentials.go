package api

import (
	"net/http"
	"strings"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/secret"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
)

// refuseCredentials is the 422 for settings of a public project that hold credentials.
func refuseCredentials(found []wire.FieldError) *request.Problem {
	var names []string
	for _, f := range found {
		names = append(names, f.Pointer)
	}
	p := request.Problemf(http.StatusUnprocessableEntity, wire.CodeSecretFound,
		"everyone can read the settings of a public project, and these look like credentials: %s", strings.Join(names, ", ")).
		WithHint(`revoke them; let the app read them from its environment, which {"$secret": "NAME"} refers to`)
	p.Errors = found
	return p
}

// checkPublic returns the 422 of refuseCredentials if a config that becomes public contains credentials.
func checkPublic(canonical []byte) error {
	config, err := flat.Parse(canonical)
	if err != nil {
		return err
	}
	if found := secret.InSettings(config, canonical); found != nil {
		return refuseCredentials(found)
	}
	return nil
}
