package golden_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

var stress = flag.String("stress", "",
	"full: run TestStress with 2,000 readers, 200 writers and 50 manifests, and judge the response times")

// TestStress runs callers that want all of a hub's memory alongside ordinary work.
// The full form is
//
//	go test ./golden -run Stress -stress=full -v
func TestStress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read from /proc")
	}
	readers, writers, manifests, ordinary := 330, 20, 5, 20
	if *stress != "full" {
		t.Parallel()
	} else {
		readers, writers, manifests, ordinary = 2000, 200, 50, 200
	}
	w := newLocal(t, `{"a": 1}`)
	w.must("project", "create", "web", "--visibility", "public", "--no-input")
	s := &stressed{t: t, world: w, token: w.token, path: aliceWeb + "/preview/base-files"}
	s.prepare()
	var running sync.WaitGroup
	defer running.Wait()
	defer s.closeAll()
	for i := range readers {
		s.hold(i, "GET "+s.path+"/archive HTTP/1.1\r\nHost: hub\r\n\r\n")
	}
	tooMany := s.hold(readers, "GET "+s.path+"/archive HTTP/1.1\r\nHost: hub\r\n\r\n")
	for range writers {
		s.hold(0,
			"PUT "+s.path+
				" HTTP/1.1\r\nHost: hub\r\nContent-Type: application/zstd\r\nContent-Length: 100000000\r\nAuthorization: Bearer "+
				s.token+"\r\n\r\n"+string(s.begun))
	}
	for range manifests {
		running.Go(func() {
			req, _ := http.NewRequest("POST", w.hub.origin+s.path+"/plan", bytes.NewReader(s.manifest))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Content-Encoding", "zstd")
			req.Header.Set("Authorization", "Bearer "+s.token)
			if resp, err := http.DefaultClient.Do(req); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	var times []time.Duration
	for i := range ordinary {
		start := time.Now()
		s.request("PUT", strings.TrimSuffix(s.path, "/preview/base-files")+"/client-config", "application/json",
			fmt.Sprintf(`{"settings": {"a": %d}}`, i))
		times = append(times, time.Since(start))
		start = time.Now()
		s.request("GET", strings.TrimSuffix(s.path, "/preview/base-files")+"/config", "", "")
		times = append(times, time.Since(start))
	}
	s.refused(tooMany)
	slices.Sort(times)
	resident := s.resident()
	t.Logf("%d readers, %d writers, %d manifests: at most %d MiB resident, ordinary requests %v at the median and %v at "+
		"the 99th percentile",
		readers, writers, manifests, resident>>20, times[len(times)/2], times[len(times)*99/100])
	if resident > 256<<20 {
		t.Errorf("the hub took %d MiB, more than its budget and 128 MiB", resident>>20)
	}
	if *stress == "full" && times[len(times)/2] > 100*time.Millisecond {
		t.Errorf("ordinary requests took %v at the median", times[len(times)/2])
	}
}

// stressed is a hub with a public project, and connections that stay open.
type stressed struct {
	t        *testing.T
	world    *world
	token    string
	path     string // of the base files
	begun    []byte // of an archive with a window of 8 MiB
	manifest []byte // of a gigabyte of entries, compressed
	open     []net.Conn
}

func (s *stressed) prepare() {
	var begun bytes.Buffer
	z, err := zstd.NewWriter(&begun, zstd.WithWindowSize(8<<20))
	if err != nil {
		s.t.Fatal(err)
	}
	z.Write(make([]byte, 1<<20))
	z.Flush()
	s.begun = begun.Bytes()
	var manifest bytes.Buffer
	z.Reset(&manifest)
	fmt.Fprintf(z, `{"tree": "%s", "files": [%s`, strings.Repeat("0", 64), strings.Repeat("{},", 5_000_000))
	z.Close()
	s.manifest = manifest.Bytes()
	s.upload(20 << 20)
}

// upload stores three files that do not compress, of so many bytes, so that a reader who takes
// nothing is waited for.
func (s *stressed) upload(size int) {
	var body bytes.Buffer
	archive := tar.NewWriter(&body)
	noise := make([]byte, size)
	for i := range 3 {
		rand.Read(noise)
		if err := archive.WriteHeader(
			&tar.Header{Name: fmt.Sprint("f", i), Size: int64(len(noise)), Mode: 0o644}); err != nil {
			s.t.Fatal(err)
		}
		archive.Write(noise)
	}
	archive.Close()
	s.request("PUT", s.path, "application/x-tar", body.String())
}

// hold sends a request and reads nothing of the response. It comes from one of a
// hundred addresses.
func (s *stressed) hold(i int, request string) net.Conn {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+i%100))}}
	conn, err := from.Dial("tcp", s.world.hub.listen)
	if err != nil {
		s.t.Fatal(err)
	}
	s.open = append(s.open, conn)
	io.WriteString(conn, request)
	return conn
}

// refused reads the response to a request for which there is no room, because of the caller's other ones. It
// says when to come back.
func (s *stressed) refused(conn net.Conn) {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		s.t.Errorf("one reader more than there is room for: %s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
}

func (s *stressed) closeAll() {
	for _, conn := range s.open {
		conn.Close()
	}
}

// request makes an ordinary request, which has to succeed.
func (s *stressed) request(method, path, mediaType, body string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.world.hub.origin+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", mediaType)
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
}

var peakMemory = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// resident is how much memory the hub had at most, in bytes.
func (s *stressed) resident() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.world.hub.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	m := peakMemory.FindSubmatch(status)
	if m == nil {
		s.t.Fatalf("no peak in %s", status)
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n << 10
}
