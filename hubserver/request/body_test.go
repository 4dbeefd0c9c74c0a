package request

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient/wire"
)

func TestPace_CountsWaitingUntilEnoughPassed(t *testing.T) {
	p := pace{idle: 30 * time.Second}
	p.passed(MinRate-1, 20*time.Second)
	if left := p.left(); left > 11*time.Second {
		t.Errorf("%v are left after 20 s with too few bytes", left)
	}
	p.passed(1, time.Second)
	if left := p.left(); left < 29*time.Second {
		t.Errorf("%v are left after enough bytes", left)
	}
}

// posted is a call with a body in a room of a hub with so much memory.
func posted(body io.Reader, in Room, memory int64) *Call {
	h := &Hub{}
	for kind := range h.rooms {
		h.rooms[kind] = newRoom(memory, shares[kind])
	}
	r := httptest.NewRequest("POST", "/", body)
	w := httptest.NewRecorder()
	b := newBody(r, time.Minute, http.NewResponseController(w))
	r.Body = b
	return &Call{Hub: h, R: r, W: &ResponseWriter{ResponseWriter: w, hub: h, body: b}, room: in}
}

func TestReadAll_TakesRoomAsBytesCome(t *testing.T) {
	const memory = 128 << 20
	read, write := io.Pipe()
	c := posted(read, Describing, memory)
	c.R.ContentLength = -1
	got := make(chan []byte)
	go func() {
		data, err := c.ReadAll("the description", 16<<20)
		if err != nil {
			t.Error(err)
		}
		got <- data
	}()
	_, _ = write.Write(bytes.Repeat([]byte("y"), 1<<20))
	_, _ = write.Write([]byte("x")) // which is read once there is room for the others
	if held := c.Hub.rooms[Describing].used.Load(); held < 1<<20 || held > 1<<20+1 {
		t.Errorf("%d bytes are held for those that came", held)
	}
	_ = write.Close()
	if data := <-got; len(data) != 1<<20+1 {
		t.Errorf("read %d bytes", len(data))
	}
	if held := c.Hub.rooms[Describing].used.Load(); held != (1<<20+1)*shares[Describing].factor {
		t.Errorf("%d bytes are held for the work", held)
	}
	c.release()
	for kind, r := range c.Hub.rooms {
		if held := r.used.Load(); held != 0 || len(r.clients) != 0 {
			t.Errorf("room %d: %d bytes are held after the end, by %v", kind, held, r.clients)
		}
	}
}

// Callers who take all the room must not keep others from signing in.
func TestReadAll_SmallBodiesNeedNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for size, want := range map[int]int{0: 0, freeBody: 0, freeBody + 1: http.StatusServiceUnavailable} {
			c := posted(strings.NewReader(strings.Repeat("x", size)), Changing, 128<<20)
			full := c.Hub.rooms[Changing]
			mustNeed(t, full.enter(client{name: "anna"}), full.size)
			data, err := c.ReadAll("the body", 64<<10)
			if want == 0 && (err != nil || len(data) != size) || want != 0 && ToProblem(err).Status != want {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
	})
}

func TestReadAll_RefusesWhatNeverFits(t *testing.T) {
	for name, c := range map[string]struct {
		length int64
		limit  int64
		want   string
	}{
		"above the limit":         {1<<10 + 1, 1 << 10, "the description is too large: this hub accepts at most 1024 bytes"},
		"larger than its room":    {8 << 20, 16 << 20, "the request needs 40 MiB of memory, but the limit is 6 MiB"},
		"of unknown length":       {-1, 16 << 20, "of memory, but the limit is 6 MiB"},
		"above it without length": {-1, 1 << 10, "the description is too large: this hub accepts at most 1024 bytes"},
	} {
		call := posted(strings.NewReader(strings.Repeat("x", 4<<20)), Describing, 16<<20)
		call.R.RemoteAddr = "203.0.113.9:1" // a stranger, who has half
		call.R.ContentLength = c.length
		_, err := call.ReadAll("the description", c.limit)
		if p := ToProblem(err); p.Status != http.StatusRequestEntityTooLarge || !strings.HasSuffix(p.Detail, c.want) {
			t.Errorf("%s: %d %s", name, p.Status, p.Detail)
		}
	}
}

func TestReadJSON_RefusesInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		mediaType, encoding, body string
		status                    int
		code                      wire.Code
	}{
		"another type":  {"text/plain", "", "{", 415, wire.CodeUnsupportedMediaType},
		"no type":       {"", "", "{", 415, wire.CodeUnsupportedMediaType},
		"an encoding":   {"application/json", "gzip", "{", 415, wire.CodeUnsupportedMediaType},
		"too long":      {"application/json", "", "{" + strings.Repeat(" ", 100), 413, wire.CodeTooLarge},
		"no JSON":       {"application/json; charset=utf-8", "", "{", 400, wire.CodeInvalidJSON},
		"another shape": {"application/json", "", `{"other": 1}`, 422, wire.CodeInvalidBody},
	} {
		call := posted(strings.NewReader(c.body), Changing, 128<<20)
		call.R.Header.Set("Content-Type", c.mediaType)
		call.R.Header.Set("Content-Encoding", c.encoding)
		var v struct {
			Name string `json:"name"`
		}
		_, err := call.ReadJSON("the body", 100, &v)
		if p := ToProblem(err); err == nil || p.Status != c.status || p.Code != c.code {
			t.Errorf("%s: %d %s %s", name, p.Status, p.Code, p.Detail)
		}
	}
}

func TestBrokenBody_SaysWhy(t *testing.T) {
	for want, err := range map[string]error{
		"timeout while reading the body":               os.ErrDeadlineExceeded,
		"the body ended early":                         io.ErrUnexpectedEOF,
		"the body is malformed: invalid byte in chunk": errors.New("http: invalid byte in chunk"),
	} {
		if p := BrokenBody(err); p.Status != 400 || p.Detail != want || !errors.Is(p, err) {
			t.Errorf("%v: %d %s", err, p.Status, p.Detail)
		}
	}
}

func TestStopReading_EndsReads(t *testing.T) {
	c := posted(strings.NewReader("x"), Uploading, 128<<20)
	c.StopReading()
	if _, err := c.R.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
}

// signalling tells when its first read begins.
type signalling struct {
	io.ReadCloser
	reading chan bool
	once    sync.Once
}

func (s *signalling) Read(p []byte) (int, error) {
	s.once.Do(func() { close(s.reading) })
	return s.ReadCloser.Read(p)
}

// A caller who still sends when another goroutine finds that the call has failed reads the response: the hub
// discards the rest first.
func TestStopReading_LetsTheRestBeDiscarded(t *testing.T) {
	stopped := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		waiting := &signalling{ReadCloser: r.Body, reading: make(chan bool)}
		r.Body = waiting
		b := newBody(r, time.Minute, http.NewResponseController(w))
		c := &Call{W: &ResponseWriter{ResponseWriter: w, hub: &Hub{}, body: b, pace: b.pace}}
		go func() {
			<-waiting.reading
			c.StopReading()
			close(stopped)
		}()
		if _, err := io.Copy(io.Discard, b); !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
		c.W.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	sent, send := io.Pipe()
	r, _ := http.NewRequest("PUT", server.URL, sent)
	r.ContentLength = 100 << 10
	go func() {
		<-stopped
		_, _ = send.Write(make([]byte, r.ContentLength))
		send.Close()
	}()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden || res.Close {
		t.Errorf("status %d, connection closed: %v", res.StatusCode, res.Close)
	}
}

func TestWriteHeader_EndsConnectionAfterChunks(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		c := posted(strings.NewReader("x"), Uploading, 128<<20)
		c.W.body.closes = chunked
		c.W.WriteHeader(200)
		if closes := c.W.Header().Get("Connection") == "close"; closes != chunked {
			t.Errorf("chunked %v: the connection ends: %v", chunked, closes)
		}
	}
}

// What a caller of HTTP/2 sends unasked would be in memory until that caller has read the response.
func TestWriteHeader_DropsUnreadBodyOfHTTP2(t *testing.T) {
	c := posted(nil, Uploading, 128<<20)
	read, write := io.Pipe()
	c.W.body.stream, c.W.body.ReadCloser = true, read
	c.W.WriteHeader(200)
	if _, err := write.Write([]byte("x")); err == nil {
		t.Error("the body is still open")
	}
}

func TestBytes_TakesRoomForLargeResponses(t *testing.T) {
	for size, want := range map[int]int64{smallResponse: 0, 1 << 20: 1 << 20, 20 << 20: 4 << 20} {
		c := posted(strings.NewReader(""), Reading, 16<<20) // of which a stranger has a quarter
		if err := c.Need(100 << 10); err != nil {
			t.Fatal(err)
		}
		err := c.Bytes(http.StatusOK, "text/plain", make([]byte, size))
		if held := c.Hub.rooms[Reading].used.Load(); err != nil || held != want || c.W.written != int64(size) {
			t.Errorf("%d bytes: %v, %d are held, %d were written", size, err, held, c.W.written)
		}
		c.release()
	}
}
