package hubserver

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// address is that of the caller. Behind trusted proxies it is the last address of
// X-Forwarded-For that is not one of theirs: what stands before it is the caller's word.
func (c *call) address() string { return callerAddress(c.r, c.s.TrustedProxies) }

func callerAddress(r *http.Request, proxies []netip.Prefix) string {
	address := host(r.RemoteAddr)
	if !isTrusted(address, proxies) {
		return address
	}
	for _, hop := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		ip, ok := parseHop(strings.TrimSpace(hop))
		if !ok {
			return address // nothing before it can be trusted
		}
		if address = ip.String(); !isTrusted(address, proxies) {
			return address
		}
	}
	return address
}

// parseHop reads an address, which some proxies write with a port.
func parseHop(hop string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(strings.Trim(hop, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(hop)
		if err != nil {
			return netip.Addr{}, false
		}
		ip = with.Addr()
	}
	return ip.Unmap().WithZone(""), true
}

func isTrusted(address string, proxies []netip.Prefix) bool {
	ip, err := netip.ParseAddr(address)
	ip = ip.Unmap().WithZone("")
	return err == nil && slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
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

// host returns a network address without its port.
func host(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
