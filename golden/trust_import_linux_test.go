package golden_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// publicAddress is of the one host in the test's network that an import may reach.
const publicAddress = "93.184.216.34"

// innerAddresses are of hosts that an import may not reach: of each range that is not public.
var innerAddresses = strings.Fields(`127.0.0.1 10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.170 198.18.0.1 203.0.113.1
	0.0.0.0 ::1 :: ::ffff:127.0.0.1 fd00:ec2::254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe:: fec0::1`)

// innerNames are names, and spellings of addresses, that a resolver may lead inside.
var innerNames = map[string][]string{
	"localhost": {"127.0.0.1"}, "metadata.google.internal": {"169.254.169.254"}, "127.0.0.1.nip.io": {"127.0.0.1"},
	"intranet.example": {"10.0.0.1"}, "six.example": {"fd00:ec2::254"},
	"mixed.example": {publicAddress, "10.0.0.1"}, "mixed6.example": {publicAddress, "::1"},
	"2130706433": {"127.0.0.1"}, "0x7f000001": {"127.0.0.1"}, "0177.0.0.1": {"127.0.0.1"}, "127.1": {"127.0.0.1"},
	"0": {"127.0.0.1"}, "2852039166": {"169.254.169.254"}, "0251.0376.0251.0376": {"169.254.169.254"},
}

// innerURLs are the addresses that an import is given, and redirected to.
func innerURLs(origin string) []string {
	var all []string
	for _, a := range innerAddresses {
		host := netip.MustParseAddr(a).String()
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		all = append(all, "http://"+host+"/", "https://"+host+"/", "http://"+host+":443/x?y#z", "http://"+host+":6379/")
	}
	for name := range innerNames {
		all = append(all, "http://"+name+"/", "http://"+strings.ToUpper(name)+"./", "https://"+name+":80/")
	}
	all = append(all, "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://[::1%25lo]/", "http://user@127.0.0.1/",
		`http://public.example\@127.0.0.1/`, "http://public.example:22/",
		"http://public.example:25/", "http://public.example:0/", "http://public.example:65536/", "http://127.0.0.1\t/",
		"http://127.0.0.1\r\n/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "ftp://127.0.0.1/", "dict://127.0.0.1/",
		"ldap://127.0.0.1/",
		"data:,x", "jar:http://127.0.0.1!/", "unix:///run/x.sock", "//127.0.0.1/", origin+"/v1/openapi.json")
	return all
}

// In a network of its own, where every address has a listener, a hub imports from what strangers
// name: directly, by redirects, and by names that mean another address each time.
func TestTrust_ImportReachesNoInnerAddress(t *testing.T) {
	n := newNetwork(t)
	h := startHub(t, sqlite(t, t.TempDir()))
	h.admin(t, "account", "create", "alice")
	n.token = h.token(t, "alice", "write:catalog")
	conn, err := net.Dial("tcp", h.listen)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	n.hub, n.answers = conn, bufio.NewReader(conn)
	if status := n.importFrom("http://public.example/api.json"); status != http.StatusCreated {
		t.Fatalf("a public address: %d", status)
	}
	tries := 0
	try := func(address string) {
		if tries++; n.importFrom(address) < 400 {
			t.Errorf("%s was imported", address)
		}
	}
	urls := innerURLs(h.origin)
	for _, target := range urls {
		try(target)
	}
	for i, target := range urls {
		code := []int{301, 302, 303, 307, 308}[i%5]
		try(fmt.Sprintf("http://public.example/redirect?code=%d&to=%s", code, url.QueryEscape(target)))
	}
	for range rounds(50, 1000) {
		tries++
		n.importFrom("http://rebinding.example/api.json") // what is public now, it may have
	}
	if t.Logf("%d imports, %d requests at the public address, %v elsewhere", tries, n.public, n.inner); len(n.inner) > 0 ||
		n.public == 0 {
		t.Errorf("imports reached %v", n.inner)
	}
}

// network is a network with one public host, and the connection to a hub in it.
type network struct {
	t       *testing.T
	token   string
	hub     net.Conn
	answers *bufio.Reader

	mu     sync.Mutex
	public int
	inner  []string // addresses at which somebody called
}

// newNetwork makes a network for this thread, which ends with the test, and for the programs
// that it starts.
func newNetwork(t *testing.T) *network {
	t.Helper()
	runtime.LockOSThread() // and never unlocked: the thread is of no use to others
	if err := syscall.Unshare(syscall.CLONE_NEWNET | syscall.CLONE_NEWNS); err != nil {
		t.Skipf("this machine does not allow a network of its own: %v", err)
	}
	resolver := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(resolver, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	need(t, "ip", "apt-get install iproute2")
	privileged(t, "mount", "--make-rprivate", "/")
	privileged(t, "mount", "--bind", resolver, "/etc/resolv.conf")
	privileged(t, "ip", "link", "set", "lo", "up")
	n := &network{t: t}
	for _, address := range append(slices.Clone(innerAddresses), publicAddress) {
		if a := netip.MustParseAddr(address); !a.IsLoopback() && !a.IsUnspecified() && !a.Is4In6() {
			privileged(t, "ip", "addr", "add", netip.PrefixFrom(a, a.BitLen()).String(), "dev", "lo")
		}
	}
	for _, port := range []string{"22", "25", "80", "443", "6379"} {
		listener, err := net.Listen("tcp", ":"+port)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(serveDescription), ConnState: n.note}
		t.Cleanup(func() { server.Close() })
		go server.Serve(listener)
	}
	names, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { names.Close() })
	go serveNames(names)
	return n
}

// note remembers where somebody called.
func (n *network) note(conn net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at := conn.LocalAddr().(*net.TCPAddr).AddrPort()
	if at.Addr().Unmap().String() == publicAddress && (at.Port() == 80 || at.Port() == 443) {
		n.public++
	} else {
		n.inner = append(n.inner, at.String())
	}
}

// serveDescription is every host: it redirects, or has an API description.
func serveDescription(w http.ResponseWriter, r *http.Request) {
	if code := r.FormValue("code"); code != "" {
		w.Header()["Location"] = []string{r.FormValue("to")}
		var status int
		fmt.Sscan(code, &status)
		w.WriteHeader(status)
		return
	}
	io.WriteString(w, `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}`)
}

// serveNames answers for every name. That of rebinding.example is public and inner in turn.
func serveNames(names net.PacketConn) {
	buf := make([]byte, 1500)
	for turn := 0; ; {
		size, from, err := names.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
		addresses, known := innerNames[name]
		switch name {
		case "public.example":
			addresses, known = []string{publicAddress}, true
		case "rebinding.example":
			if q.Type == dnsmessage.TypeA {
				turn++
			}
			addresses, known = []string{[]string{publicAddress, "127.0.0.1", "10.0.0.1"}[turn%3]}, true
		}
		m.Response, m.Additionals = true, nil
		if !known {
			m.RCode = dnsmessage.RCodeNameError
		}
		for _, text := range addresses {
			header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
			switch a := netip.MustParseAddr(text); {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
		if answer, err := m.Pack(); err == nil {
			names.WriteTo(answer, from)
		}
	}
}

// importFrom has the hub import from an address, and returns the status. Its connection is of
// this thread's network.
func (n *network) importFrom(address string) int {
	n.t.Helper()
	body, err := json.Marshal(map[string]string{"account": "alice", "url": address})
	if err != nil {
		n.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, "http://"+n.hub.RemoteAddr().String()+"/v1/apis/import",
		strings.NewReader(string(body)))
	if err != nil {
		n.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+n.token)
	if err := r.Write(n.hub); err != nil {
		n.t.Fatal(err)
	}
	resp, err := http.ReadResponse(n.answers, r)
	if err != nil {
		n.t.Fatalf("import from %s: %v", address, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode
}
