package request

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Address returns the caller's IP address. Behind trusted proxies it is the last address in X-Forwarded-For that is
// not one of theirs; the caller may have forged earlier ones.
func (c *Call) Address() string {
	address := host(c.R.RemoteAddr)
	hops := strings.Split(strings.Join(c.R.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		ip, ok := parseAddress(strings.TrimSpace(hop))
		if !ok || !isTrusted(address, c.Hub.TrustedProxies) {
			break
		}
		address = ip.String()
	}
	return address
}

// parseAddress parses an IP address, to which some proxies add a port.
func parseAddress(address string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(strings.Trim(host(address), "[]"))
	return ip.Unmap().WithZone(""), err == nil
}

func isTrusted(address string, proxies []netip.Prefix) bool {
	ip, ok := parseAddress(address)
	return ok && slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

func host(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// Network returns the network of the caller's address: the whole address for IPv4; for IPv6 the first 64
// bits, because one caller can have all addresses with these.
func (c *Call) Network() string { return network(c.Address()) }

func network(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() && !ip.Is4In6() {
		return netip.PrefixFrom(ip.WithZone(""), 64).Masked().String()
	}
	return address
}

// LimitedNetwork returns the network whose open connections are limited together, or "" for loopback and for
// trusted proxies, which have no limit.
func LimitedNetwork(address string, proxies []netip.Prefix) string {
	address = host(address)
	if IsLoopback(address) || isTrusted(address, proxies) {
		return ""
	}
	return network(address)
}

// IsLoopback reports whether a host is this machine by its name or its address.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// IsOpen reports whether tokens can be read in transit to a hub at this address.
func IsOpen(address *url.URL) bool {
	return address.Scheme == "http" && !IsLoopback(address.Hostname())
}

// maxReturn bounds a path to return to, in bytes.
const maxReturn = 2 << 10

// LocalPath returns to if it is a path of this hub, which may have a query, and "/" for what could lead a
// browser to another host. Browsers take \ for / and drop control characters, so these are refused.
func LocalPath(to string) string {
	if _, err := url.Parse(to); err != nil || len(to) > maxReturn ||
		!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r >= 0x7f }) {
		return "/"
	}
	return to
}
