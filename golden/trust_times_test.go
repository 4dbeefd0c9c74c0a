package golden_test

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// How long a response takes tells a stranger neither whether a private project exists, nor how much of
// a token is right. The ordinary run only makes the comparison; the full one judges it.
func TestTrust_TimesTellNothing(t *testing.T) {
	for name, db := range map[string]database{"sqlite": sqlite, "postgres": postgres} {
		t.Run(name, func(t *testing.T) {
			if *trust != "full" {
				t.Parallel()
			}
			timesTellNothing(t, db)
		})
	}
}

func timesTellNothing(t *testing.T, db database) {
	w := newLocalOn(t, db, `{"a": 1}`)
	w.must("project", "create", "web")
	w.hub.admin(t, "account", "create", "mallory")
	stranger := "Authorization: Bearer " + w.hub.token(t, "mallory", "write:catalog", "write:config", "admin:resource") +
		"\r\n"
	get := func(header, format, slug string) string {
		return fmt.Sprintf("GET "+format+" HTTP/1.1\r\nHost: %s\r\n%s\r\n", slug, w.hub.listen, header)
	}
	slugs := w.pairs(20)
	for _, c := range []struct {
		name    string
		request func(class, i int) string
	}{
		{"a stranger's token, config", func(class, i int) string {
			return get(stranger, "/v1/projects/alice/%s/config", slugs[class][i])
		}},
		{"a stranger's token, base files", func(class, i int) string {
			return get(stranger, "/v1/projects/alice/%s/preview/base-files", slugs[class][i])
		}},
		{"no token, config", func(class, i int) string { return get("", "/v1/projects/alice/%s/config", slugs[class][i]) }},
		{"no session, page", func(class, i int) string { return get("", "/@alice/%s", slugs[class][i]) }},
		{"tokens that share nothing or much with a real one", func(class, _ int) string {
			shared := [2]int{7, 33}[class] // of which hubpat_ is 7
			return get("Authorization: Bearer "+likeToken(w.token, shared)+"\r\n", "/v1/projects/alice/%s/config", "none")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLooker(t, w.hub.listen)
			times := [2][]float64{}
			for range rounds(200, 20_000) {
				class := rand.IntN(2)
				times[class] = append(times[class], l.look(c.request(class, rand.IntN(20))))
			}
			score, difference := welch(times)
			t.Logf("%d and %d requests: t is %.1f, the means differ by %.2f µs", len(times[0]), len(times[1]), score, difference)
			if *trust == "full" && math.Abs(score) >= 4.5 {
				t.Errorf("the times tell the classes apart")
			}
		})
	}
}

// pairs creates n private projects, and returns their slugs and as many of projects that do not exist.
func (w *world) pairs(n int) (slugs [2][]string) {
	w.t.Helper()
	for i := range n {
		slug := fmt.Sprintf("p%02d", 2*i)
		exchange(w.t, "POST", w.hub.origin+"/v1/projects", w.token, fmt.Sprintf(
			`{"account": "alice", "slug": %q, "stack": "alice/web", "stackVersion": "latest", "api": {"account": "alice", "slug": "pets"}, "visibility": "private"}`, slug), nil)
		exchange(w.t, "PUT", w.hub.origin+"/v1/projects/alice/"+slug+"/client-config", w.token,
			`{"settings":`+strings.Replace(document(), mark, "1", 1)+`}`, nil)
		slugs[0], slugs[1] = append(slugs[0], slug), append(slugs[1], fmt.Sprintf("p%02d", 2*i+1))
	}
	return slugs
}

// likeToken makes a well-formed token that has so many characters at its beginning in common with another.
func likeToken(token string, shared int) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	text := []byte(token[:shared])
	for len(text) < len(token)-6 {
		text = append(text, alphabet[rand.IntN(len(alphabet))])
	}
	sum, check := crc32.ChecksumIEEE(text), [6]byte{}
	for i := range check {
		check[5-i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(append(text, check[:]...))
}

// looker asks a hub on one connection, and measures.
type looker struct {
	t       *testing.T
	conn    net.Conn
	answers *bufio.Reader
	status  int
}

func newLooker(t *testing.T, address string) *looker {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &looker{t: t, conn: conn, answers: bufio.NewReader(conn)}
}

// look makes a request, and returns after how many microseconds the response began. All
// responses have one status.
func (l *looker) look(request string) float64 {
	start := time.Now()
	io.WriteString(l.conn, request)
	l.answers.Peek(1)
	took := time.Since(start)
	resp, err := http.ReadResponse(l.answers, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	if l.status == 0 {
		l.status = resp.StatusCode
	}
	if resp.StatusCode != l.status || l.status < 400 {
		l.t.Fatalf("%.100s: %s, before %d", request, resp.Status, l.status)
	}
	return float64(took) / 1e3
}

// welch compares the means of two classes without the slowest twentieth of all, and returns t of
// Welch's test, and their difference.
func welch(times [2][]float64) (t, difference float64) {
	all := slices.Sorted(slices.Values(slices.Concat(times[0], times[1])))
	limit := all[len(all)*95/100]
	var mean, variance [2]float64 // of the mean
	for i, class := range times {
		n, squares := 0.0, 0.0
		for _, x := range class {
			if x < limit {
				n++
				mean[i] += x
				squares += x * x
			}
		}
		mean[i] /= n
		variance[i] = (squares/n - mean[i]*mean[i]) / (n - 1)
	}
	difference = mean[0] - mean[1]
	return difference / math.Sqrt(variance[0]+variance[1]), difference
}
