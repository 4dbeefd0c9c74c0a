package hubclient

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Event says what a project has now; exactly one of its members is set.
type Event struct {
	Config    *wire.ConfigEvent
	BaseFiles *wire.BaseFilesEvent
}

// maxEvent limits a line of a stream of events, in bytes.
const maxEvent = 64 << 10

// Events calls each with the events of a project, the first ones saying what is stored
// now, until ctx ends, the connection breaks or the hub ends it. It returns nil when the
// hub ended it: the caller decides whether to call again. Or it returns the error of each.
func (c *Client) Events(ctx context.Context, r ref.Ref, each func(Event) error) error {
	req, err := c.newRequest(ctx, to(wire.OpGetEvents, r))
	if err != nil {
		return err
	}
	resp, err := c.roundTrip(req)
	if err != nil {
		return c.transportError(ctx, true, err)
	}
	defer resp.Body.Close()
	if err := c.checkStatus(req, resp); err != nil {
		return err
	}
	version := line(resp.Header.Get("Hub-Version"))
	if resp.StatusCode >= http.StatusBadRequest {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return c.transportError(ctx, true, err)
		}
		return c.refusal(resp, body, version)
	}
	if version == "" || mediaType(resp) != wire.EventStream {
		return c.notAHub(resp.StatusCode, "its response is not a stream of events")
	}
	err = readEvents(resp.Body, each)
	var own ownError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own.error
	case errors.Is(err, bufio.ErrTooLong):
		return c.notAHub(resp.StatusCode, "an event is larger than %d KiB", maxEvent>>10)
	}
	return c.transportError(ctx, true, err)
}

// readEvents calls each with the events of a stream. Events of other names, as a newer
// hub may send, and those whose data cannot be read, are ignored.
func readEvents(stream io.Reader, each func(Event) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	name, data := "", ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if e, ok := eventOf(name, data); ok {
				if err := each(e); err != nil {
					return ownError{err}
				}
			}
			name, data = "", ""
		case field == "event":
			name = value
		case field == "data" && len(data)+len(value) <= maxEvent:
			data += value
		}
	}
	return lines.Err()
}

func eventOf(name, data string) (e Event, ok bool) {
	var v any
	switch name {
	case wire.EventConfig:
		e.Config = &wire.ConfigEvent{}
		v = e.Config
	case wire.EventBaseFiles:
		e.BaseFiles = &wire.BaseFilesEvent{}
		v = e.BaseFiles
	default:
		return e, false
	}
	return e, json.Unmarshal([]byte(data), v) == nil
}
