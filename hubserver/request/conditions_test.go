package request

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func conditional(header http.Header) (*Call, *httptest.ResponseRecorder) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header = header
	w := httptest.NewRecorder()
	h := &Hub{}
	control := http.NewResponseController(w)
	return &Call{Hub: h, R: r, W: &ResponseWriter{ResponseWriter: w, hub: h, body: newBody(r, 1, control)}}, w
}

func TestCondition_HoldsForWhatIsStored(t *testing.T) {
	const none = "nothing" // is stored, and has the digest none
	for _, c := range []struct {
		header, value, stored string
		want                  bool
	}{
		{"If-Match", `"a"`, "a", true},
		{"If-Match", `"a"`, "b", false},
		{"If-Match", `"b", "a"`, "a", true},
		{"If-Match", `"b",`, "a", false},
		{"If-Match", `*`, "a", true},
		{"If-Match", `"b", *`, "a", true},
		{"If-Match", `*`, none, false},
		{"If-Match", `"nothing"`, none, false},
		{"If-Match", `W/"a"`, "a", false},
		{"If-Match", `a`, "a", false}, // without quotes
		{"If-Match", `"a`, "a", false},
		{"If-Match", ``, "a", false},
		{"If-Match", `,`, "a", false},
		{"If-None-Match", `*`, "a", false},
		{"If-None-Match", `*`, none, true},
		{"If-None-Match", `"a"`, "a", false},
		{"If-None-Match", `"a"`, "b", true},
		{"If-None-Match", `"b", "a"`, "a", false},
		{"If-None-Match", `W/"a"`, "a", false},
		{"If-None-Match", ``, "a", true},
		{"Accept", `x`, "a", true},
	} {
		call, _ := conditional(http.Header{c.header: {c.value}})
		if got := call.Condition().Holds(c.stored, c.stored != none); got != c.want {
			t.Errorf("%s: %s, %s is stored: %v", c.header, c.value, c.stored, got)
		}
	}
}

func TestUnmodified_AnswersConditions(t *testing.T) {
	for _, c := range []struct {
		header, value, encoding string
		status                  int // 0: it has not responded
		etag                    string
	}{
		{"Accept", "x", "", 0, `"r"`},
		{"Accept", "x", "gzip", 0, `"r-gzip"`},
		{"If-None-Match", `"r"`, "", 304, `"r"`},
		{"If-None-Match", `W/"r"`, "", 304, `"r"`},
		{"If-None-Match", `*`, "", 304, `"r"`},
		{"If-None-Match", `"s", "r"`, "", 304, `"r"`},
		{"If-None-Match", `r`, "", 0, `"r"`},
		{"If-None-Match", `"s"`, "", 0, `"r"`},
		{"If-None-Match", `"r"`, "gzip", 304, `"r"`}, // it has the resource, without encoding
		{"If-None-Match", `"r-gzip"`, "gzip", 304, `"r-gzip"`},
		{"If-None-Match", `"r-gzip"`, "", 0, `"r"`},
		{"If-Match", `"r"`, "", 0, `"r"`},
		{"If-Match", `*`, "", 0, `"r"`},
		{"If-Match", `"r-gzip"`, "gzip", 0, `"r-gzip"`},
		{"If-Match", `"s"`, "", 412, ""},
		{"If-Match", `W/"r"`, "", 412, ""},
		{"If-Match", ``, "", 412, ""},
	} {
		call, w := conditional(http.Header{c.header: {c.value}})
		responded := call.UnmodifiedIn("r", c.encoding)
		if responded != (c.status != 0) || call.W.status != c.status || w.Header().Get("ETag") != c.etag {
			t.Errorf("%s: %s in %q: %v, %d, ETag %s",
				c.header, c.value, c.encoding, responded, call.W.status, w.Header().Get("ETag"))
		}
	}
}
