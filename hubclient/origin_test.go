package hubclient_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

func TestParseOrigin_Normalizes(t *testing.T) {
	for given, want := range map[string]string{
		"http://hub":                      "http://hub",
		"http://hub/":                     "http://hub",
		"HTTPS://Hub.Example.COM":         "https://hub.example.com",
		"https://hub:443":                 "https://hub",
		"https://hub:0443/":               "https://hub",
		"http://hub:80":                   "http://hub",
		"http://hub:443":                  "http://hub:443",
		"https://hub:80":                  "https://hub:80",
		"http://hub:":                     "http://hub",
		"http://hub:4680":                 "http://hub:4680",
		"http://127.0.0.1:4680":           "http://127.0.0.1:4680",
		"http://[::1]":                    "http://[::1]",
		"http://[::1]:80":                 "http://[::1]",
		"http://[0:0::1]:4680":            "http://[::1]:4680",
		"http://[FE80::1%25eth0]:4680":    "http://[fe80::1%25eth0]:4680",
		"http://[::ffff:127.0.0.1]":       "http://[::ffff:127.0.0.1]",
		"http://my_hub.internal-net:8080": "http://my_hub.internal-net:8080",
		"http://xn--bcher-kva.example":    "http://xn--bcher-kva.example",
		"http://hub?":                     "", "http://hub#": "http://hub",
	} {
		got, err := hubclient.ParseOrigin(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParseOrigin(%q) = %q, %v; want %q", given, got, err, want)
		}
	}
}

// notOrigins are texts that are not origins, although some parsers accept them.
var notOrigins = []string{
	"", "hub", "hub.example.com", "hub:4680", "localhost:4680", "//hub", "http:", "http://", "http:///", "http://:4680",
	"https://?", "http:hub",
	"ftp://hub", "file:///etc/passwd", "unix:/run/hub.sock", "javascript:alert(1)", "http+unix://hub",
	"http://user@hub", "http://user:secret@hub", "http://hub/v1", "http://hub//", "http://hub?x=1", "http://hub#x",
	"http://ok#@127.0.0.1", "http://127.0.0.1@evil.test",
	`http://ok\@127.0.0.1`, "http://hub:0", "http://hub:65536", "http://hub:-1", "http://hub:x", "http://hub:99999999999",
	"http://hub:80:80", "http://[::1", "http://::1", "http://[::1]x",
	"http://[hub]", "http://[::1%25\xc1]", "http://[::1%25a%20b]", "http://a b", "http://a\tb", "http://hub\r\n",
	"http://hub\x00", " http://hub", "http://hub ", "http://%41", "http://hub%2f", "http://bücher.example",
	"http://①②⑦.0.0.1", "http://hub。example", "http://hub..example", "http://.hub", "http://hub\u202e", `http://"hub"`,
	"http://<hub>", "http://hub,example",
	"http://" + strings.Repeat("a", 64), "http://" + strings.Repeat("a.", 127) + "a", "\ufeffhttp://hub",
}

func TestParseOrigin_RejectsInvalidWithoutQuoting(t *testing.T) {
	for _, given := range append(notOrigins, pat.New(), "http://"+pat.New()+"@hub") {
		got, err := hubclient.ParseOrigin(given)
		if err == nil {
			t.Errorf("ParseOrigin(%q) = %q", given, got)
			continue
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hubpat_") || len(err.Error()) > 100 {
			t.Errorf("ParseOrigin(%q): %v", given, err)
		}
		_, err = hubclient.New(hubclient.Options{Origin: given})
		wantCode(t, err, hubclient.CodeNotAHub)
	}
}

func FuzzParseOrigin(f *testing.F) {
	for _, seed := range append([]string{"http://hub:4680", "https://[::1%25lo]:443/", "http://A.b:0080"},
		notOrigins[:20]...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := hubclient.ParseOrigin(s)
		if err != nil {
			if got != "" || len(err.Error()) > 100 {
				t.Errorf("ParseOrigin(%q) = %q, %v", s, got, err)
			}
			return
		}
		if again, err := hubclient.ParseOrigin(got); err != nil || again != got {
			t.Errorf("ParseOrigin(%q) = %q, of which it makes %q, %v", s, got, again, err)
		}
		if strings.ContainsAny(got, "@?#\\ \r\n") {
			t.Errorf("ParseOrigin(%q) = %q", s, got)
		}
		c, err := hubclient.New(hubclient.Options{Origin: s})
		if err != nil || c.Origin() != got {
			t.Errorf("New(%q): %v", s, err)
		}
	})
}

func TestNew_RejectsUnsendableToken(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\x00", "\x7f", "\u0085"} {
		_, err := hubclient.New(hubclient.Options{Origin: origin, Token: token + end})
		if e := wantCode(t, err, hubclient.CodeTokenMalformed); strings.Contains(e.Detail+e.Hint, "hubpat_") {
			t.Error(e)
		}
	}
}

func TestNew_RefusesTokenOverPlainHTTP(t *testing.T) {
	near := []string{
		"http://localhost", "http://LOCALHOST:4680", "http://hub.localhost", "http://127.0.0.1", "http://127.0.0.1:4680",
		"http://127.0.0.2", "http://127.255.255.254:1",
		"http://[::1]", "http://[::1]:4680", "http://[0:0:0:0:0:0:0:1]", "http://[::ffff:127.0.0.1]",
		"http://[::ffff:7f00:1]", "http://[::1%25lo]",
	}
	far := []string{
		"http://0.0.0.0", "http://0.0.0.0:4680", "http://[::]", "http://[::]:4680", "http://0", "http://127.1",
		"http://2130706433", "http://0x7f000001", "http://0177.0.0.1", "http://127.000.000.001",
		"http://10.0.0.1", "http://172.16.0.1", "http://192.168.1.10:4680", "http://169.254.169.254", "http://100.64.0.1",
		"http://192.0.2.1", "http://8.8.8.8", "http://255.255.255.255",
		"http://[fe80::1%25eth0]", "http://[fd00::1]", "http://[2001:db8::1]", "http://[::7f00:1]",
		"http://[::ffff:10.0.0.1]", "http://[64:ff9b::7f00:1]", "http://[2002:7f00:1::]",
		"http://hub", "http://hub.example.com", "http://localhost.example.com", "http://localhost.", "http://notlocalhost",
		"http://xlocalhost", "http://localhost4", "http://ip6-localhost", "http://127.0.0.1.nip.io",
		"http://127.0.0.1.example.com",
	}
	open := func(origin, token string, allow bool) error {
		_, err := hubclient.New(hubclient.Options{Origin: origin, Token: token, AllowHTTP: allow})
		return err
	}
	for _, o := range near {
		if err := open(o, token, false); err != nil {
			t.Errorf("%s: %v", o, err)
		}
	}
	for _, o := range far {
		if e := wantCode(t, open(o, token, false), hubclient.CodeInsecureOrigin); !strings.Contains(e.Detail, o) {
			t.Errorf("%s is not named: %v", o, e)
		}
		for name, err := range map[string]error{
			"allowed": open(o, token, true), "without a token": open(o, "", false),
			"over TLS": open("https"+o[len("http"):], token, false),
		} {
			if err != nil {
				t.Errorf("%s %s: %v", o, name, err)
			}
		}
	}
}

// farAddress returns an address of this machine that is not loopback.
func farAddress(t *testing.T) netip.Addr {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			return p.Addr()
		}
	}
	t.Skip("this machine has no address but loopback")
	return netip.Addr{}
}

// A name is what a resolver makes of it, so what counts is where it leads.
func TestDial_LoopbackNameLeadingElsewhereGetsNoToken(t *testing.T) {
	far, near := farAddress(t), netip.MustParseAddr("127.0.0.1")
	listen := func(at netip.Addr, port string) (net.Listener, *int) {
		listener, err := net.Listen("tcp", net.JoinHostPort(at.String(), port))
		if err != nil {
			t.Fatal(err)
		}
		seen := new(int)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			*seen++
			answer(w, 200, wire.Whoami{User: "alice", TokenName: r.Header.Get("Authorization")})
		}))
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		t.Cleanup(server.Close)
		return listener, seen
	}
	nearListener, nearSeen := listen(near, "0")
	_, port, _ := net.SplitHostPort(nearListener.Addr().String())
	_, farSeen := listen(far, port)
	for name, test := range map[string]struct {
		resolved  []netip.Addr
		allow     bool
		code      wire.Code
		near, far int
	}{
		"loopback":            {[]netip.Addr{near}, false, "", 1, 0},
		"elsewhere":           {[]netip.Addr{far}, false, hubclient.CodeInsecureOrigin, 0, 0},
		"elsewhere, allowed":  {[]netip.Addr{far}, true, "", 0, 1},
		"elsewhere, and here": {[]netip.Addr{far, near}, false, "", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			*nearSeen, *farSeen = 0, 0
			resolve(t, test.resolved...)
			c, err := hubclient.New(hubclient.Options{Origin: "http://hub.localhost:" + port, Token: token,
				AllowHTTP: test.allow, Timeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdle()
			me, err := c.Whoami(t.Context())
			if test.code != "" {
				wantCode(t, err, test.code)
			} else if err != nil || me.TokenName != "Bearer "+token {
				t.Errorf("%+v, %v", me, err)
			}
			if *nearSeen != test.near || *farSeen != test.far {
				t.Errorf("%d requests here and %d elsewhere", *nearSeen, *farSeen)
			}
		})
	}
}

// resolve makes every name that no hosts file has lead to addresses.
func resolve(t *testing.T, addresses ...netip.Addr) {
	system := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = system })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go answerName(far, addresses)
		return near, nil
	}}
}

// answerName answers one query of the DNS, in the form that streams have.
func answerName(conn net.Conn, addresses []netip.Addr) {
	defer conn.Close()
	var size [2]byte
	io.ReadFull(conn, size[:])
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return
	}
	const header, typeA = 12, 1
	end := header
	for query[end] != 0 {
		end += 1 + int(query[end])
	}
	end += 5 // the root label, type and class
	if query[end-3] != typeA {
		addresses = nil
	}
	reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, byte(len(addresses)), 0, 0, 0, 0},
		query[header:end]...)
	for _, a := range addresses {
		reply = append(reply, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, a.AsSlice()...)
	}
	conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
}

func TestStartDevice_RefusesThePageOfAnotherHub(t *testing.T) {
	for _, d := range []wire.Device{
		{VerificationURI: "https://other.test/device", VerificationURIComplete: "https://other.test/device?code=BBBB-BBBB"},
		{VerificationURI: origin + "/device", VerificationURIComplete: "https://other.test/device?code=BBBB-BBBB"},
		{VerificationURI: "https://other.test/device"},
		{VerificationURI: origin + ".other.test/device"}, {VerificationURI: origin + "@other.test/device"},
		{VerificationURI: "file:///etc/passwd"},
	} {
		d.DeviceCode, d.UserCode = "d", "BBBB-BBBB"
		play(t, []step{answered(200, d)}, func(ctx context.Context, c *hubclient.Client) {
			if _, err := c.StartDevice(ctx, "tool"); !hubclient.HasCode(err, hubclient.CodeRedirected) {
				t.Errorf("%s %s: %v", d.VerificationURI, d.VerificationURIComplete, err)
			}
		})
	}
}

func TestGuessOrigin_IsHTTPOnThisMachine(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:4680": "http://127.0.0.1:4680", "localhost": "http://localhost", "[::1]:80": "http://[::1]",
		"hub.example.com": "https://hub.example.com", "hub:8443/": "https://hub:8443", "": "", "a b": "", "x@hub": "",
	} {
		if got, ok := hubclient.GuessOrigin(address); got != want || ok != (want != "") {
			t.Errorf("%q: %q", address, got)
		}
	}
}
