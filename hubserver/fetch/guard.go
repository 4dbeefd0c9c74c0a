package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// Allow is a range of addresses that may be fetched from although they are not public.
type Allow struct {
	prefix netip.Prefix
	port   uint16 // 0: 80 and 443
}

// ParseAllow reads CIDR or CIDR:PORT: 10.1.0.0/16, 127.0.0.1/32:8080, fd00::/8:8443.
// Without a port, 80 and 443 are meant; with one, that one only.
func ParseAllow(s string) (Allow, error) {
	address, rest, ok := strings.Cut(s, "/")
	if !ok {
		return Allow{}, fmt.Errorf("%q is not of the form CIDR or CIDR:PORT, such as 10.1.0.0/16:8080", s)
	}
	bits, service, hasPort := strings.Cut(rest, ":")
	prefix, err := netip.ParsePrefix(address + "/" + bits)
	switch {
	case err != nil:
		return Allow{}, fmt.Errorf("%q: %q is not a range of addresses", s, address+"/"+bits)
	case prefix.Addr().Is4In6():
		return Allow{}, fmt.Errorf("%q: write the IPv4 addresses as such", s)
	case prefix != prefix.Masked():
		return Allow{}, fmt.Errorf("%q: the range begins at %s", s, prefix.Masked())
	case !hasPort:
		return Allow{prefix: prefix}, nil
	}
	port, err := portNumber(service)
	if err != nil {
		return Allow{}, fmt.Errorf("%q: %w", s, err)
	}
	return Allow{prefix, port}, nil
}

func (a Allow) covers(to netip.AddrPort) bool {
	return a.prefix.Contains(to.Addr()) && (to.Port() == a.port || a.port == 0 && isWeb(to.Port()))
}

func isWeb(port uint16) bool { return port == 80 || port == 443 }

// guard decides what may be dialled: public addresses on ports 80 and 443, and what it lists.
type guard []Allow

func (g guard) check(to netip.AddrPort) error {
	zone, address := to.Addr().Zone(), to.Addr().Unmap()
	to = netip.AddrPortFrom(address, to.Port())
	switch {
	case zone != "":
		return fmt.Errorf("%s names a network interface", to)
	case slices.ContainsFunc(g, func(a Allow) bool { return a.covers(to) }):
		return nil
	case !isWeb(to.Port()):
		return fmt.Errorf("%s is on another port than 80 and 443", to)
	case !isPublic(address):
		return fmt.Errorf("%s is not a public address", to)
	}
	return nil
}

// control is the last check, made by [net.Dialer] on the address that it is about to connect to.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return g.check(to)
}

// special are addresses that look public and are not: those that IANA reserves, and one of Azure.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

// globalUnicast is all of IPv6 that is assigned for the Internet. Addresses that embed an IPv4 address, or
// are translated to one, are outside, or special.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func isPublic(address netip.Addr) bool {
	if address.Is6() && !globalUnicast.Contains(address) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(address) })
}

func prefixes(texts ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		parsed[i] = netip.MustParsePrefix(text)
	}
	return parsed
}
