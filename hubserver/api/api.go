// Package api answers the calls of the hub's JSON API. One file a resource; a handler reads from
// top to bottom: load, check, act, answer. What all calls have in common is package request's.
//
// This package is the only place where a row becomes a shape of package wire. It must not know
// pages.
package api

import (
	"slices"

	"example.com/projecthub/hubserver/request"
)

// Routes returns the endpoints with their handlers, except those of [Watches].
func Routes() []request.Route {
	return slices.Concat(
		whoamiRoutes, memberRoutes, tokenRoutes, botRoutes, limitRoutes, linkRoutes, deviceRoutes,
		projectRoutes, configRoutes, baseFileRoutes, trashRoutes, apiRoutes, stackRoutes, schemaRoutes, previewRoutes,
	)
}

// withBody returns a handler that reads the JSON body of the request first.
func withBody[T any](handle func(c *request.Call, req *T) error) request.Handler {
	return func(c *request.Call) error {
		req := new(T)
		if _, err := c.ReadJSON("the body", request.MaxJSON, req); err != nil {
			return err
		}
		return handle(c, req)
	}
}
