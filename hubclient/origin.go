package hubclient

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// defaultPorts are those that an origin leaves out, by scheme.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// Neither quotes what was given: it may hold a password, or be a token in the wrong place.
var (
	errNoOrigin   = errors.New("not of the form http://HOST[:PORT] or https://HOST[:PORT]")
	errMoreOrigin = errors.New("more than an origin: leave out all but scheme, host and port")
)

// ParseOrigin checks an origin and returns it in the one form in which origins
// are compared: lower case, without a default port or a slash at the end. The
// error is to follow the name of what was given.
func ParseOrigin(s string) (string, error) {
	u, err := url.Parse(strings.TrimSuffix(s, "/"))
	if err != nil || defaultPorts[u.Scheme] == "" {
		return "", errNoOrigin
	}
	if u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", errMoreOrigin
	}
	host, ok := parseHost(u)
	if !ok {
		return "", errNoOrigin
	}
	return (&url.URL{Scheme: u.Scheme, Host: host}).String(), nil
}

// GuessOrigin returns the origin that an address without a scheme means: http for this machine, https for others.
func GuessOrigin(address string) (origin string, ok bool) {
	u, err := url.Parse("http://" + address)
	if err == nil && !loopbackName(u.Hostname()) {
		u.Scheme = "https"
	}
	if err == nil {
		origin, err = ParseOrigin(u.String())
	}
	return origin, err == nil
}

// What hosts and addresses of pages are made of. No pattern says so: to compile one costs
// each command more than all else about its origin.
const (
	hostCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	zoneCharacters = hostCharacters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ."
	pageCharacters = zoneCharacters + "~:/?#[]@&=+%,"
)

func consistsOf(text, characters string) bool { return strings.Trim(text, characters) == "" }

// CheckPage refuses an address that is not that of a page of origin, as [ParseOrigin]
// returns it: a hub could show another hub's page as its own. What opens an address may pass
// it on through a shell, or divide it at its spaces, so no character of it acts on either.
func CheckPage(origin, address string) error {
	path, own := strings.CutPrefix(address, origin+"/")
	if own && consistsOf(path, pageCharacters) {
		return nil
	}
	return &Error{Code: CodeRedirected, Detail: fmt.Sprintf("%s is not a page of %s", line(address), origin)}
}

// As in the DNS, in bytes.
const (
	maxHost  = 253
	maxLabel = 63
)

// validHost takes host names in lower case.
func validHost(host string) bool {
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > maxLabel || !consistsOf(label, hostCharacters) {
			return false
		}
	}
	return len(host) <= maxHost
}

// parseHost returns u's host and port in the form that origins have. A name
// beyond ASCII has to be in its DNS form.
func parseHost(u *url.URL) (hostPort string, ok bool) {
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		if host = ip.String(); !consistsOf(ip.Zone(), zoneCharacters) {
			return "", false
		}
	} else if !validHost(host) {
		return "", false
	}
	port := u.Port()
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return "", false
		}
		port = strconv.FormatUint(n, 10)
	}
	switch {
	case port != "" && port != defaultPorts[u.Scheme]:
		return net.JoinHostPort(host, port), true
	case strings.Contains(host, ":"):
		return "[" + host + "]", true
	}
	return host, true
}

// loopbackName reports whether a host is this machine by its name. Where the
// name leads in truth is checked when it is dialled.
func loopbackName(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
