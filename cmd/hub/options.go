package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// serveOptions are the options of hub serve.
type serveOptions struct {
	hubserver.Config
	listen, adminListen, logFormat string

	importAllow, trustedProxies []string
	allow                       []fetch.Allow
	keep                        store.Retention
	days, auditDays             int    // that revisions, and rows of the audit log, are kept at least
	tlsCert, tlsKey, tlsACME    string // without tlsCert and tlsDomains, the hub speaks plain HTTP
	tlsDomains                  []string
	drainDelay                  time.Duration
	connections                 int
	given                       cmdline.Line
}

func (o *serveOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", "127.0.0.1:4680", "listen on `ADDRESS:PORT` (HUB_LISTEN)")
	f.StringVar(&o.adminListen, "admin-listen", "",
		"serve /metrics and /debug/pprof/ on `ADDRESS:PORT`, to anybody who reaches it (HUB_ADMIN_LISTEN)")
	f.StringVar(&o.PublicURL, "public-url", "",
		"set the `ORIGIN` that people use, required beyond loopback (HUB_PUBLIC_URL)")
	f.StringVar(&o.PreviewURL, "preview-url", "", "set the `ORIGIN` of the frame of previews, on another host name than "+
		"--public-url (HUB_PREVIEW_URL; on loopback, the other of 127.0.0.1 and localhost)")
	f.StringVar(&o.logFormat, "log", "text", "write the log on stderr in this `FORMAT`: text or json (HUB_LOG)")
	f.StringArrayVar(&o.importAllow, "import-allow", nil,
		"let API import reach the non-public `CIDR[:PORT]`; repeatable (HUB_IMPORT_ALLOW: separated by commas)")
	f.StringArrayVar(&o.trustedProxies, "trusted-proxy", nil,
		"trust X-Forwarded-For from proxies in `CIDR`; repeatable (HUB_TRUSTED_PROXY: separated by commas)")
	f.StringVar(&o.tlsCert, "tls-cert", "",
		"speak TLS with the certificate chain in the PEM `FILE`, which is read again when it changes (HUB_TLS_CERT)")
	f.StringVar(&o.tlsKey, "tls-key", "", "use the private key in the PEM `FILE` for --tls-cert (HUB_TLS_KEY)")
	f.StringArrayVar(&o.tlsDomains, "tls-domain", nil, "speak TLS with a certificate for `NAME` from Let's Encrypt, "+
		"whose terms of service you accept; it is renewed in time; repeatable (HUB_TLS_DOMAIN: separated by commas)")
	f.StringVar(&o.tlsACME, "tls-acme", "",
		"order certificates for --tls-domain from the ACME directory at `URL` (HUB_TLS_ACME)")
	f.DurationVar(&o.drainDelay, "drain-delay", 0, "after SIGTERM, fail /readyz and keep serving for this `DURATION`, "+
		"so that a load balancer notices (HUB_DRAIN_DELAY)")
	limitVar(f, &o.connections, store.MinConnections, mostConnections, "db-connections",
		"open at most `N` connections to PostgreSQL, half of them for reads")
	limitVar(f, &o.keep.Revisions, 1, mostItems, "history", "keep the newest `N` revisions of each config")
	limitVar(f, &o.days, 1, mostDays, "history-days", "keep older revisions of configs for `N` days")
	limitVar(f, &o.auditDays, 1, mostDays, "audit-days", "keep rows of the audit log for `N` days")
	l := &o.Limits
	limitVar(f, &l.ConfigBytes, 1, mostBytes, "config-bytes", "limit a config to `BYTES`")
	limitVar(f, &l.ConfigKeys, 1, mostItems, "config-keys", "limit a config to `N` keys")
	limitVar(f, &l.ConfigDepth, 1, mostDepth, "config-depth", "limit settings to `N` levels of nesting")
	limitVar(f, &l.DescriptionBytes, 1, mostBytes, "description-bytes", "limit an API description to `BYTES`")
	limitVar(f, &l.BundleBytes, 1, mostBytes, "bundle-bytes", "limit a stack bundle to `BYTES`, as sent")
	limitVar(f, &l.BaseFiles, 1, mostItems, "base-files", "limit a project to `N` base files")
	limitVar(f, &l.BaseFileBytes, 1, mostBytes, "base-file-bytes", "limit a base file to `BYTES`")
	limitVar(f, &l.BaseFilesBytes, 1, mostBytes, "base-files-bytes",
		"limit all base files of a project together to `BYTES`")
	limitVar(f, &l.Memory, leastMemory, mostBytes, "memory", "limit the memory of all requests together to `BYTES`")
	limitVar(f, &l.Connections, 1, mostItems, "connections",
		"keep at most `N` connections open, an eighth of them for one address")
}

// check refuses options that would make the hub unusable, and completes the configuration.
func (o *serveOptions) check(stderr io.Writer) (err error) {
	if err := o.checkTLS(); err != nil {
		return err
	}
	if o.PublicURL == "" && len(o.tlsDomains) > 0 {
		o.PublicURL = "https://" + o.tlsDomains[0]
	}
	logs := map[string]slog.Handler{"text": slog.NewTextHandler(stderr, nil), "json": slog.NewJSONHandler(stderr, nil)}
	host, _, listenErr := net.SplitHostPort(o.listen)
	_, _, adminErr := net.SplitHostPort(o.adminListen)
	switch {
	case logs[o.logFormat] == nil:
		return cmdline.Usagef("--log is text or json, not %q", o.logFormat)
	case o.drainDelay < 0:
		return cmdline.Usagef("--drain-delay is 0s or a positive duration, such as 10s")
	case o.adminListen != "" && adminErr != nil:
		return cmdline.Usagef("--admin-listen %q is not ADDRESS:PORT", o.adminListen)
	case listenErr != nil:
		return cmdline.Usagef("--listen %q is not ADDRESS:PORT", o.listen)
	case !request.IsLoopback(host) && o.PublicURL == "":
		const reason = "listening on %s, beyond this machine, needs --public-url: the address that people use"
		return cmdline.Usagef(reason, o.listen).Try(o.given.Flag("--public-url", "https://hub.example.com"))
	case o.PreviewURL != "" && o.PublicURL == "":
		return cmdline.Usagef("--preview-url needs --public-url: the address that people use")
	}
	o.Log = slog.New(logs[o.logFormat])
	if o.PublicURL != "" {
		if o.PublicURL, err = hubclient.ParseOrigin(o.PublicURL); err != nil {
			return cmdline.Usagef("--public-url: %v", err)
		}
	}
	if o.PreviewURL != "" {
		if o.PreviewURL, err = hubclient.ParseOrigin(o.PreviewURL); err != nil {
			return cmdline.Usagef("--preview-url: %v", err)
		}
		if name := hostname(o.PreviewURL); name == hostname(o.PublicURL) {
			return cmdline.Usagef("--preview-url %s has the host name of --public-url: an app that loops would stop all "+
				"previews, and share the hub's host; use another name, such as preview.%s", o.PreviewURL, name)
		}
	}
	speaksTLS := o.tlsCert != "" || len(o.tlsDomains) > 0
	if speaksTLS && o.PublicURL != "" && !strings.HasPrefix(o.PublicURL, "https://") {
		return cmdline.Usagef("--public-url %s does not begin with https://, although the hub speaks TLS", o.PublicURL)
	}
	for _, origin := range []string{o.PublicURL, o.PreviewURL} {
		if name := hostname(origin); len(o.tlsDomains) > 0 && origin != "" && !slices.Contains(o.tlsDomains, name) {
			return cmdline.Usagef("there is no certificate for %s: add --tls-domain %s", origin, cmdline.Quote(name))
		}
	}
	for _, entry := range o.importAllow {
		allow, err := fetch.ParseAllow(entry)
		if err != nil {
			return cmdline.Usagef("--import-allow: %v", err)
		}
		o.allow = append(o.allow, allow)
	}
	for _, entry := range o.trustedProxies {
		network, err := netip.ParsePrefix(entry)
		if ip, notOne := netip.ParseAddr(entry); notOne == nil {
			network, err = ip.Prefix(ip.BitLen())
		}
		if err != nil {
			const reason = "--trusted-proxy %q is neither a network, such as 10.0.0.0/8, nor an address"
			return cmdline.Usagef(reason, entry)
		}
		o.TrustedProxies = append(o.TrustedProxies, network.Masked())
	}
	return nil
}

// checkTLS refuses flags about TLS that do not fit together.
func (o *serveOptions) checkTLS() error {
	const together = "--tls-cert and --tls-key are used together"
	switch {
	case o.tlsKey == "" && o.tlsCert != "":
		return cmdline.Usagef(together).Try(o.given.Flag("--tls-key", "hub.key"))
	case o.tlsCert == "" && o.tlsKey != "":
		return cmdline.Usagef(together).Try(o.given.Flag("--tls-cert", "hub.crt"))
	case o.tlsCert != "" && len(o.tlsDomains) > 0:
		return cmdline.Usagef("--tls-cert and --tls-domain cannot be used together")
	case o.tlsACME != "" && len(o.tlsDomains) == 0:
		return cmdline.Usagef("--tls-acme needs --tls-domain: the name for which to order a certificate")
	}
	for _, name := range o.tlsDomains {
		if !strings.Contains(name, ".") || strings.ContainsAny(name, "*:/ ") || net.ParseIP(name) != nil {
			return cmdline.Usagef("--tls-domain %q is not a host name, such as hub.example.com", name)
		}
	}
	u, err := url.Parse(o.tlsACME)
	if o.tlsACME != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		return cmdline.Usagef("--tls-acme %q is not an https:// address", o.tlsACME)
	}
	return nil
}

func hostname(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// The largest values of limits: far more than a hub can handle, and far less than would overflow.
const (
	mostBytes = 1 << 40
	mostItems = 10_000_000
	mostDepth = 100   // tool reads no more levels
	mostDays  = 36500 // a hundred years

	leastMemory     = 16 << 20 // a smaller budget is not enough for ordinary requests
	mostConnections = 262143   // that PostgreSQL itself takes
)

// limit is the value of a flag: an integer from least to most.
type limit[T int | int64] struct {
	value       *T
	least, most T
}

func (l limit[T]) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < int64(l.least) || n > int64(l.most) {
		return fmt.Errorf("a limit is an integer from %d to %d", l.least, l.most)
	}
	*l.value = T(n)
	return nil
}

func (l limit[T]) String() string {
	if l.value == nil { // pflag asks the zero value
		return ""
	}
	return strconv.FormatInt(int64(*l.value), 10)
}

func (l limit[T]) Type() string { return "int" }

// limitVar adds a flag for the limit at value, which is its default, and names its variable.
func limitVar[T int | int64](f *pflag.FlagSet, value *T, least, most T, name, usage string) {
	f.Var(limit[T]{value, least, most}, name, usage+" ("+cmdline.Variable("HUB_", name)+")")
}
