package hubclient_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

func TestEvents_AreRead(t *testing.T) {
	stream := ": hello\n\nevent: config\ndata: {\"revision\":\"a\",\ndata: \"by\":\"alice\",\"later\":1}\n\n" +
		"event: mood\ndata: {}\n\nevent: config\ndata: no JSON\n\ndata: {}\n\nevent:base-files\ndata:{\"tree\":\"b\"}\n\nevent: config\ndata: {\"revision\":\"cut off\"}"
	answer, mediaType := stream, "text/event-stream"
	hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Hub-Version", "1")
		w.Header().Set("Content-Type", mediaType)
		io.WriteString(w, answer)
	})
	var got []hubclient.Event
	read := func(ctx context.Context) error {
		return hub.Events(ctx, project, func(e hubclient.Event) error { got = append(got, e); return nil })
	}
	if err := read(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []hubclient.Event{{Config: &wire.ConfigEvent{Revision: "a", By: "alice"}}, {BaseFiles: &wire.BaseFilesEvent{Tree: "b"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	own := errors.New("enough")
	if err := hub.Events(t.Context(), project, func(hubclient.Event) error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
	answer = "event: config\ndata: " + strings.Repeat("x", 100_000)
	wantCode(t, read(t.Context()), notAHub)
	answer, mediaType = stream, "application/json"
	wantCode(t, read(t.Context()), notAHub)
}
