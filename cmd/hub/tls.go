package main

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubserver/certificate"
	"example.com/projecthub/store"
)

// tlsOptions say with which certificates the hub speaks TLS. Without any it speaks plain HTTP.
type tlsOptions struct {
	cert, key string
	domains   []string
	acme      string
}

func (o *tlsOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.cert, "tls-cert", "",
		"speak TLS with the certificate chain in the PEM `FILE`, which is read again when it changes (HUB_TLS_CERT)")
	f.StringVar(&o.key, "tls-key", "", "use the private key in the PEM `FILE` for --tls-cert (HUB_TLS_KEY)")
	f.StringArrayVar(&o.domains, "tls-domain", nil, "speak TLS with a certificate for `NAME` from Let's Encrypt, whose "+
		"terms of service you accept; it is renewed in time; repeatable (HUB_TLS_DOMAIN: separated by commas)")
	f.StringVar(&o.acme, "tls-acme", "",
		"order certificates for --tls-domain from the ACME directory at `URL` (HUB_TLS_ACME)")
}

func (o *tlsOptions) enabled() bool { return o.cert != "" || len(o.domains) > 0 }

// check refuses flags that do not fit together. again is the command line that was given.
func (o *tlsOptions) check(again cmdline.Line) error {
	const together = "--tls-cert and --tls-key are used together"
	switch {
	case o.key == "" && o.cert != "":
		return cmdline.Usagef(together).Try(again.Flag("--tls-key", "hub.key"))
	case o.cert == "" && o.key != "":
		return cmdline.Usagef(together).Try(again.Flag("--tls-cert", "hub.crt"))
	case o.cert != "" && len(o.domains) > 0:
		return cmdline.Usagef("--tls-cert and --tls-domain cannot be used together")
	case o.acme != "" && len(o.domains) == 0:
		return cmdline.Usagef("--tls-acme needs --tls-domain: the name for which to order a certificate")
	}
	for _, name := range o.domains {
		if !strings.Contains(name, ".") || strings.ContainsAny(name, "*:/ ") || net.ParseIP(name) != nil {
			return cmdline.Usagef("--tls-domain %q is not a host name, such as hub.example.com", name)
		}
	}
	if o.acme == "" {
		return nil
	}
	if u, err := url.Parse(o.acme); err != nil || u.Scheme != "https" || u.Host == "" {
		return cmdline.Usagef("--tls-acme %q is not an https:// address", o.acme)
	}
	return nil
}

// checkOrigins refuses a hub whose pages or previews have a name without a certificate.
func (o *tlsOptions) checkOrigins(public, preview string) error {
	if o.enabled() && public != "" && !strings.HasPrefix(public, "https://") {
		return cmdline.Usagef("--public-url %s does not begin with https://, although the hub speaks TLS", public)
	}
	for _, origin := range []string{public, preview} {
		if name := hostname(origin); len(o.domains) > 0 && origin != "" && !slices.Contains(o.domains, name) {
			return cmdline.Usagef("there is no certificate for %s: add --tls-domain %s", origin, cmdline.Quote(name))
		}
	}
	return nil
}

// publicURL is the address that people use unless --public-url says another.
func (o *tlsOptions) publicURL() string {
	if len(o.domains) == 0 {
		return ""
	}
	return "https://" + o.domains[0]
}

// config returns nil for plain HTTP. start is called once the hub listens.
func (o *tlsOptions) config(s *store.Store, log *slog.Logger) (c *tls.Config, start func(), err error) {
	start = func() {}
	switch {
	case o.cert != "":
		c, err = certificate.Files(o.cert, o.key, log)
	case len(o.domains) > 0:
		var obtain func()
		c, obtain = certificate.ACME(o.domains, o.acme, s, log)
		start = func() { go obtain() }
	}
	return c, start, err
}
