package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestLink_SaysWhatTheHubAnswered(t *testing.T) {
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"code": "not_permitted"}`))
	}))
	defer hub.Close()
	d := &demo{ctx: t.Context()}
	_, err := d.link(hub.URL, "token")
	const want = "create a link: the hub answered 403 Forbidden"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
