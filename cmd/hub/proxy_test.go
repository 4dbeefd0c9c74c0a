package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

// proxied is two hubs on one PostgreSQL behind a proxy with the settings of deploy/.
type proxied struct {
	*load
	base      string // of the proxy
	addresses [2]string
	hubs      [2]*process
}

// eachProxy runs f with each proxy that deploy/ has settings for.
func eachProxy(t *testing.T, f func(t *testing.T, p *proxied)) {
	for name, start := range map[string]func(*testing.T, [2]string) string{"nginx": startNginx, "caddy": startCaddy} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				const message = "needs nginx and Caddy: apt-get install nginx-light caddy"
				if os.Getenv(storetest.RequireVariable) != "" {
					t.Fatal(message)
				}
				t.Skip(message)
			}
			p := &proxied{load: newLoad(t, storetest.Postgres(t)), addresses: [2]string{freeAddress(t), freeAddress(t)}}
			p.base = start(t, p.addresses)
			for i := range p.hubs {
				p.start(i)
			}
			p.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			p.lead(p.base)
			awaitReady(t, p)
			f(t, p)
		})
	}
}

func (p *proxied) start(i int) {
	p.Helper()
	p.hubs[i] = serve(p, p.address, "--listen", p.addresses[i], "--public-url", p.base, "--trusted-proxy", "127.0.0.1",
		"--db-connections", "8", "--drain-delay", "2s")
}

func awaitReady(t *testing.T, p *proxied) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		resp, err := p.client.Get(p.base + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the proxy does not reach a hub: %v", err)
		}
	}
}

// freeAddress returns an address without a listener. Its port is below those of outgoing
// connections, of which one could take it while a hub restarts.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10000+rand.IntN(20000)))
		if err == nil {
			l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no address is free")
	return ""
}

// startProxy runs a proxy until the test ends.
func startProxy(t *testing.T, c *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		if t.Failed() {
			t.Logf("the proxy's log:\n%s", out.String())
		}
	})
}

func startNginx(t *testing.T, hubs [2]string) (base string) {
	t.Helper()
	dir := t.TempDir()
	cert, key := testPair(t)
	address := freeAddress(t)
	settings := changed(t, deployed(t, "nginx.conf"), "10.0.0.11:4680", hubs[0], "10.0.0.12:4680", hubs[1], "listen 443",
		"listen "+address,
		"/etc/ssl/hub.example.com.crt", cert, "/etc/ssl/private/hub.example.com.key", key)
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf("%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	whole := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s/pid;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", dir,
		temporary, settings)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	startProxy(t, exec.Command("nginx", "-p", dir, "-e", "stderr", "-c", dir+"/nginx.conf"))
	return "https://" + address
}

func startCaddy(t *testing.T, hubs [2]string) (base string) {
	t.Helper()
	base = "http://" + freeAddress(t)
	c := exec.Command("caddy", "run", "--config", "deploy/Caddyfile", "--adapter", "caddyfile")
	home := t.TempDir()
	c.Env = append(os.Environ(), "HUB_SITES="+base, "HUB_UPSTREAMS="+strings.Join(hubs[:], " "), "HOME="+home,
		"XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "CADDY_ADMIN=off")
	startProxy(t, c)
	return base
}

func TestProxy_PassesEventsUploadsAndAddresses(t *testing.T) {
	eachProxy(t, func(t *testing.T, p *proxied) {
		p.publish("site", "1.0.0")
		p.register("Pets", "pets")
		p.create("web")
		t.Run("events arrive at once", p.eventsArrive)
		t.Run("large uploads", p.uploads)
		t.Run("addresses of callers", p.logsAddresses)
	})
}

// eventsArrive reads a stream while a config is written through the proxy.
func (p *proxied) eventsArrive(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/v1/projects/alice/web/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := p.client.Transport.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	defer resp.Body.Close()
	events := make(chan string, 100)
	go func() {
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: ") {
				events <- lines.Text()
			}
		}
	}()
	for n := range 3 {
		p.push("web", n)
		select {
		case <-events:
		case <-time.After(20 * time.Second):
			t.Fatalf("no event after write %d", n)
		}
	}
}

// uploads sends 60 MB, which the proxy must neither refuse nor collect.
func (p *proxied) uploads(t *testing.T) {
	const size = 20 << 20 // below the limit of a file
	var body bytes.Buffer
	w := tar.NewWriter(&body)
	for n := range 3 {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("file-%d", n), Typeflag: tar.TypeReg, Mode: 0o644,
			Size: size}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, rand.NewChaCha8([32]byte{byte(n)}), size); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := body.String()
	const path = "/v1/projects/alice/web/preview/base-files"
	for token, want := range map[string]int{p.token: 200, "x": 401} {
		l := &load{TB: t, client: p.client, token: token}
		status, answer, err := l.once(http.MethodPut, p.base+path, "application/x-tar", "", whole)
		if token == "x" && err != nil { // refused before the end of the body
			continue
		}
		if err != nil || status != want {
			t.Errorf("%d, %v: %s", status, err, answer)
		}
	}
	status, archive, err := p.once(http.MethodGet, p.base+path+"/archive", "", "", "")
	if err != nil || status != 200 || len(archive) < 3*size {
		t.Errorf("the archive: %d, %v, %d bytes", status, err, len(archive))
	}
}

// logsAddresses sends a request from another address of this machine, which claims a third.
func (p *proxied) logsAddresses(t *testing.T) {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext:     (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext,
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/v1/nothing-else-asks-for-this", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", "198.51.100.7")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if line := awaitLine(t, resp.Header.Get("X-Request-Id"), p.hubs[:]...); !strings.Contains(line, "address=127.0.0.2") {
		t.Errorf("the hub logs %s", line)
	}
}

// awaitLine waits until the log of one of the hubs has a line with text, and returns it.
func awaitLine(t *testing.T, text string, hubs ...*process) string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, hub := range hubs {
			for line := range strings.Lines(hub.log.String()) {
				if strings.Contains(line, text) {
					return line
				}
			}
		}
	}
	t.Fatalf("no log has %q", text)
	return ""
}

// The hubs are replaced one after the other, as for an upgrade, while clients write: nothing is lost,
// and Caddy, which asks the hubs whether they are ready, refuses no request. nginx does not ask: a
// connection that it opens just when a hub stops is reset, and it sends no upload twice.
func TestProxy_UpgradesOneHubAfterTheOther(t *testing.T) {
	eachProxy(t, func(t *testing.T, p *proxied) {
		p.begin(4)
		for _, h := range p.hubs {
			awaitLine(t, "user=alice", h) // the proxy knows both
		}
		for i := range p.hubs {
			p.await(20)
			if err := p.hubs[i].Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = p.hubs[i].Wait()
			p.await(20)
			p.start(i)
			awaitLine(t, "user=alice", p.hubs[i]) // the proxy has noticed
		}
		p.await(20)
		p.end()
		if n := p.retried.Load(); n > 0 && strings.HasSuffix(t.Name(), "caddy") {
			t.Errorf("%d requests were refused", n)
		}
	})
}
