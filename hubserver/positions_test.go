package hubserver_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"example.com/projecthub/hubclient/wire"
)

// fields are headers that a route may refuse a request for, each with what goes before a text.
var fields = [][2]string{
	{"Authorization", "Bearer "}, {"Authorization", ""}, {"Cookie", "COOKIE="}, {"Content-Type", ""},
	{"Content-Encoding", ""}, {"Idempotency-Key", ""},
	{"If-Match", ""}, {"If-None-Match", ""}, {"Range", ""},
}

// ignored are headers that no route refuses a request for, sent all at once.
var ignored = []string{"Accept", "Accept-Encoding", "User-Agent", "Referer", "X-Request-Id", "X-Forwarded-For",
	"X-Real-Ip", "Forwarded", "Last-Event-Id", "If-Modified-Since", "Accept-Language", "Expect-Ct"}

// place puts a text into one place of a request.
type place func(text string) asked

// places are those of a request to a route in which a caller can put a text: the parts of the
// path, the parameters of the query, headers, the strings of the body, the fields of a form.
func (m *matrix) places(e *wire.Endpoint) (all []place) {
	path, body := rows[e.Method+" "+e.Path].request(m)
	method := e.Method
	if strings.HasSuffix(path, "/events") {
		method = http.MethodHead // a stream does not end
	}
	address, query, _ := strings.Cut(path, "?")
	parts := strings.Split(address, "/")
	for i, pattern := range strings.Split(e.Path, "/") {
		if before, _, ok := strings.Cut(pattern, "{"); ok && i < len(parts) {
			all = append(all, func(text string) asked {
				odd := slices.Clone(parts)
				odd[i] = before + url.PathEscape(text)
				return asked{method, strings.TrimSuffix(strings.Join(odd, "/")+"?"+query, "?"), body, nil}
			})
		}
	}
	for _, name := range theContract().queryOf(e) {
		all = append(all, func(text string) asked {
			values, _ := url.ParseQuery(query)
			values.Set(name, text)
			return asked{method, address + "?" + values.Encode(), body, nil}
		})
	}
	for _, f := range fields {
		all = append(all, func(text string) asked {
			return asked{method, path, body,
				header{f[0]: strings.Replace(f[1], "COOKIE", m.server.CookieName(), 1) + inHeader(text)}}
		})
	}
	all = append(all, func(text string) asked {
		h := header{}
		for _, name := range ignored {
			h[name] = inHeader(text)
		}
		return asked{method, path, body, h}
	})
	for _, put := range bodyPlaces(body) {
		all = append(all, func(text string) asked { return asked{method, path, put(text), nil} })
	}
	return all
}

// inHeader is text without what no header can have.
func inHeader(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}

// queryOf are the names of the parameters in the query of a route.
func (c *contract) queryOf(e *wire.Endpoint) (names []string) {
	for _, op := range c.operations {
		if op.method == e.Method && op.path == e.Path {
			for _, at := range c.parameters(op) {
				if p, _ := c.object(at); p["in"] == "query" {
					names = append(names, p["name"].(string))
				}
			}
		}
	}
	return names
}

func bodyPlaces(body any) (all []func(text string) any) {
	switch body := body.(type) {
	case nil:
		return nil
	case typed:
		if body.mediaType == wire.FormType {
			form, _ := url.ParseQuery(string(body.data))
			for _, name := range slices.Sorted(maps.Keys(form)) {
				all = append(all, func(text string) any {
					odd := maps.Clone(form)
					odd[name] = []string{text}
					return typed{wire.FormType, []byte(odd.Encode())}
				})
			}
		}
		return all
	case string:
		var v any
		if json.Unmarshal([]byte(body), &v) != nil {
			return nil
		}
		for _, put := range jsonPlaces(v) {
			all = append(all, func(text string) any {
				data, _ := json.Marshal(put(text))
				return string(data)
			})
		}
		return all
	}
	data, _ := wire.Encode(body)
	return bodyPlaces(string(data))
}

// jsonPlaces are the strings of a JSON value, and another name in each object.
func jsonPlaces(v any) (all []func(text string) any) {
	switch v := v.(type) {
	case string:
		all = append(all, func(text string) any { return text })
	case []any:
		for i := range v {
			for _, put := range jsonPlaces(v[i]) {
				all = append(all, func(text string) any {
					odd := slices.Clone(v)
					odd[i] = put(text)
					return odd
				})
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			for _, put := range jsonPlaces(v[name]) {
				all = append(all, func(text string) any {
					odd := maps.Clone(v)
					odd[name] = put(text)
					return odd
				})
			}
		}
		all = append(all, func(text string) any {
			odd := maps.Clone(v)
			odd[text] = text
			return odd
		})
	}
	return all
}
