package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
)

// drainTime is how long requests in progress may take after SIGTERM.
const drainTime = 10 * time.Second

// mostConnections is the largest number of connections that PostgreSQL itself takes.
const mostConnections = 262143

// ownMemory is what a hub uses in addition to the budget of its requests. The garbage
// collector works harder as the process comes close to the sum.
const ownMemory = 48 << 20

// leastMemory is the smallest budget that is enough for ordinary requests.
const leastMemory = 16 << 20

type serveOptions struct {
	listen, publicURL, logFormat string
	adminListen                  string
	previewURL                   string
	importAllow, trustedProxies  []string
	limits                       hubserver.Limits
	keep                         keeping
	tls                          tlsOptions
	drainDelay                   time.Duration
	connections                  int
	again                        cmdline.Line // that was given
}

func (a *app) serveCommand() *cobra.Command {
	o := serveOptions{limits: hubserver.DefaultLimits, keep: defaultKeeping, connections: store.DefaultConnections}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the hub",
		Long: "Run the hub on its database, which is created or updated first.\n\n" +
			"The first line on stdout is the hub's address, once it is ready; the log goes to\n" +
			"stderr. SIGTERM lets requests in progress finish. A SQLite file is served by one\nhub at a time; any number " +
			"of hubs can use one PostgreSQL database.",
		Example: "  hub serve\n  hub serve --db postgres://hub@db.example.com/hub --listen 0.0.0.0:4680 \\\n    --public-url https://hub.example.com\n  hub serve --listen 0.0.0.0:443 --tls-domain hub.example.com",
		Args:    cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			o.again = a.again(c)
			return a.serve(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:4680", "listen on `ADDRESS:PORT` (HUB_LISTEN)")
	f.StringVar(&o.adminListen, "admin-listen", "", "serve /metrics and /debug/pprof/ on `ADDRESS:PORT`, to anybody who reaches it (HUB_ADMIN_LISTEN)")
	f.StringVar(&o.publicURL, "public-url", "", "set the `ORIGIN` that people use, required beyond loopback (HUB_PUBLIC_URL)")
	f.StringVar(&o.previewURL, "preview-url", "", "set the `ORIGIN` of the frame of previews, on another host name than --public-url (HUB_PREVIEW_URL; on loopback, the other of 127.0.0.1 and localhost)")
	f.StringVar(&o.logFormat, "log", "text", "write the log on stderr in this `FORMAT`: text or json (HUB_LOG)")
	f.StringArrayVar(&o.importAllow, "import-allow", nil, "let API import reach the non-public `CIDR[:PORT]`; repeatable (HUB_IMPORT_ALLOW: separated by commas)")
	f.StringArrayVar(&o.trustedProxies, "trusted-proxy", nil, "believe X-Forwarded-For from proxies in `CIDR`; repeatable (HUB_TRUSTED_PROXY: separated by commas)")
	o.keep.addFlags(c)
	o.tls.addFlags(f)
	f.DurationVar(&o.drainDelay, "drain-delay", 0, "after SIGTERM, fail /readyz and keep serving for this `DURATION`, so that a load balancer notices (HUB_DRAIN_DELAY)")
	f.Var(limit[int]{&o.connections, store.MinConnections, mostConnections}, "db-connections", "open at most `N` connections to PostgreSQL, half of them for reads (HUB_DB_CONNECTIONS)")
	l := &o.limits
	limitVar(f, &l.ConfigBytes, mostBytes, "config-bytes", "limit a config to `BYTES`")
	limitVar(f, &l.ConfigKeys, mostItems, "config-keys", "limit a config to `N` keys")
	limitVar(f, &l.ConfigDepth, mostDepth, "config-depth", "limit settings to `N` levels of nesting")
	limitVar(f, &l.DescriptionBytes, mostBytes, "description-bytes", "limit an API description to `BYTES`")
	limitVar(f, &l.BundleBytes, mostBytes, "bundle-bytes", "limit a stack bundle to `BYTES`, as sent")
	limitVar(f, &l.BaseFiles, mostItems, "base-files", "limit a project to `N` base files")
	limitVar(f, &l.BaseFileBytes, mostBytes, "base-file-bytes", "limit a base file to `BYTES`")
	limitVar(f, &l.BaseFilesBytes, mostBytes, "base-files-bytes", "limit all base files of a project together to `BYTES`")
	limitVar(f, &l.PlanBytes, mostBytes, "plan-bytes", "limit a list of base files to `BYTES` of JSON")
	limitVar(f, &l.Memory, mostBytes, "memory", "limit the memory of all requests together to `BYTES` (HUB_MEMORY)")
	limitVar(f, &l.Connections, mostItems, "connections", "keep at most `N` connections open, an eighth of them for one address (HUB_CONNECTIONS)")
	return c
}

func (a *app) serve(ctx context.Context, o serveOptions) error {
	log, err := a.logger(o.logFormat)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	allow, err := parseAllow(o.importAllow)
	if err != nil {
		return err
	}
	proxies, err := parseProxies(o.trustedProxies)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(o.limits.Memory + ownMemory)
	options, err := a.blobOptions(store.Options{Create: true, Connections: o.connections, Retention: o.keep.retention()})
	if err != nil {
		return err
	}
	s, unlock, _, err := a.openMigrated(ctx, options)
	if err != nil {
		return err
	}
	defer s.Close()
	defer func() { _ = unlock() }()
	if err := s.UseObjects(ctx); errors.Is(err, store.ErrObjects) && a.used(ctx, s) {
		log.Warn("base files cannot be read or pushed until the object store answers", "error", err)
	} else if err != nil {
		return err
	}
	secure, obtain, err := o.tls.config(s, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return listenError(o.listen, a.line(cmdline.Hub("serve").Flag("--listen", anyPort(o.listen))), err)
	}
	address := o.address(listener)
	own, err := url.Parse(address)
	if err != nil {
		return err
	}
	hub := hubserver.New(hubserver.Config{
		Store: s, PublicURL: address, PreviewURL: o.previewURL, Version: cmdline.Version(version), Log: log, Limits: o.limits, TrustedProxies: proxies,
		Fetch: fetch.New(fetch.Options{Own: own, Allow: allow, Version: cmdline.Version(version), MaxBytes: o.limits.DescriptionBytes}),
	})
	if hubserver.IsOpen(own) {
		log.Warn("plain http beyond this machine: tokens can be read in transit, and tool refuses to send one; use --tls-domain or --tls-cert, or put TLS in front", "public-url", address)
	}
	stopAdmin, err := a.serveAdmin(hub, o.adminListen, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stopAdmin()
	a.welcome(ctx, s, own)
	defer saveUses(hub, log)
	defer startMaintenance(ctx, s, hub, o.keep, log)()
	log.Info("serving", "listen", listener.Addr().String(), "public-url", address, "version", cmdline.Version(version))
	server := hub.HTTPServer()
	serve := func() error { return server.Serve(listener) }
	if secure != nil {
		serve = func() error { return server.ServeTLS(listener, secure) }
	}
	obtain()
	fmt.Fprintln(a.out, address)
	return serving{hub, server, serve, o.drainDelay, log}.until(ctx)
}

// address is the origin that people use.
func (o *serveOptions) address(l net.Listener) string {
	switch {
	case o.publicURL != "":
		return o.publicURL
	case o.tls.enabled():
		return "https://" + l.Addr().String()
	}
	return "http://" + l.Addr().String()
}

// serveAdmin serves metrics and profiles until the function that it returns is called.
func (a *app) serveAdmin(hub *hubserver.Server, address string, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenError(address, a.line(cmdline.Hub("serve").Flag("--admin-listen", anyPort(address))), err)
	}
	server := hub.AdminServer()
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are no longer served", "error", err)
		}
	}()
	log.Info("serving metrics", "listen", listener.Addr().String())
	return func() { _ = server.Close() }, nil
}

// anyPort returns an address with the port that the system chooses.
func anyPort(listen string) string {
	host, _, _ := net.SplitHostPort(listen)
	return net.JoinHostPort(host, "0")
}

// listenError says what to do about a port that is in use.
func listenError(listen string, other cmdline.Line, err error) error {
	err = fmt.Errorf("cannot listen on %s: %w", listen, err)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return &hintedError{err: err, hint: "another program listens there, perhaps another hub; to use any free port", recipe: other.String()}
}

// check rejects options that would make the hub unusable.
func (o *serveOptions) check() error {
	if o.drainDelay < 0 {
		return cmdline.Usagef("--drain-delay is 0s or a positive duration, such as 10s")
	}
	if err := o.keep.check(); err != nil {
		return err
	}
	if err := o.tls.check(o.again); err != nil {
		return err
	}
	o.publicURL = cmp.Or(o.publicURL, o.tls.publicURL())
	if o.limits.Memory < leastMemory {
		return cmdline.Usagef("--memory %d is too little: a hub needs at least %d bytes", o.limits.Memory, leastMemory)
	}
	if _, _, err := net.SplitHostPort(o.adminListen); o.adminListen != "" && err != nil {
		return cmdline.Usagef("--admin-listen %q is not ADDRESS:PORT", o.adminListen)
	}
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return cmdline.Usagef("--listen %q is not ADDRESS:PORT", o.listen)
	}
	if !hubserver.IsLoopback(host) && o.publicURL == "" {
		return cmdline.Usagef("listening on %s, beyond this machine, needs --public-url: the address that people use", o.listen).
			Try(o.again.Flag("--public-url", "https://hub.example.com"))
	}
	if o.publicURL != "" {
		if o.publicURL, err = hubclient.ParseOrigin(o.publicURL); err != nil {
			return cmdline.Usagef("--public-url: %v", err)
		}
	}
	if err := o.checkPreviewURL(); err != nil {
		return err
	}
	return o.tls.checkOrigins(o.publicURL, o.previewURL)
}

// checkPreviewURL refuses a frame of previews on the host of the hub itself.
func (o *serveOptions) checkPreviewURL() (err error) {
	if o.previewURL == "" {
		return nil
	}
	if o.publicURL == "" {
		return cmdline.Usagef("--preview-url needs --public-url: the address that people use")
	}
	if o.previewURL, err = hubclient.ParseOrigin(o.previewURL); err != nil {
		return cmdline.Usagef("--preview-url: %v", err)
	}
	if hostname(o.previewURL) == hostname(o.publicURL) {
		return cmdline.Usagef("--preview-url %s has the host name of --public-url: an app that loops would stop all previews, and share the hub's host; use another name, such as preview.%s", o.previewURL, hostname(o.publicURL))
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

// parseProxies reads networks, or addresses of one proxy each.
func parseProxies(entries []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, entry := range entries {
		network, err := netip.ParsePrefix(entry)
		if ip, ipErr := netip.ParseAddr(entry); ipErr == nil {
			network, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			return nil, cmdline.Usagef("--trusted-proxy %q is neither a network, such as 10.0.0.0/8, nor an address", entry)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

func parseAllow(entries []string) ([]fetch.Allow, error) {
	var all []fetch.Allow
	for _, entry := range entries {
		allow, err := fetch.ParseAllow(entry)
		if err != nil {
			return nil, cmdline.Usagef("--import-allow: %v", err)
		}
		all = append(all, allow)
	}
	return all, nil
}

func (a *app) logger(format string) (*slog.Logger, error) {
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(a.err, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.err, nil)), nil
	}
	return nil, cmdline.Usagef("--log is text or json, not %q", format)
}

// openMigrated opens the database, locks it and migrates it; done names the steps.
func (a *app) openMigrated(ctx context.Context, o store.Options) (s *store.Store, unlock func() error, done []string, err error) {
	if s, err = a.open(ctx, o); err != nil {
		return nil, nil, nil, err
	}
	if unlock, err = s.Lock(); err != nil {
		return nil, nil, nil, errors.Join(err, s.Close())
	}
	if done, err = s.Migrate(ctx); err != nil {
		return nil, nil, nil, errors.Join(err, unlock(), s.Close())
	}
	return s, unlock, done, nil
}

// used reports whether a hub has accounts.
func (a *app) used(ctx context.Context, s *store.Store) bool {
	var accounts []store.Account
	err := s.Read(ctx, func(v *store.View) (err error) {
		accounts, err = v.Accounts(ctx)
		return err
	})
	return err != nil || len(accounts) > 0
}

// welcome prints how to create the first account of an empty hub.
func (a *app) welcome(ctx context.Context, s *store.Store, address *url.URL) {
	if a.used(ctx, s) {
		return
	}
	db := cmdline.Quote(a.shownDB())
	if store.Path(a.db) == "" && a.db == a.getenv("HUB_DB") {
		db = `"$HUB_DB"`
	}
	allow := ""
	if hubserver.IsOpen(address) {
		allow = "TOOL_ALLOW_HTTP=1 "
	}
	fmt.Fprintf(a.err, "This hub is empty. In another terminal, create an account and a token, and log in:\n\n"+
		"  hub account create --db %[1]s alice\n"+
		"  hub token create --db %[1]s --user alice --name laptop --scope write:catalog --scope admin:resource |\n"+
		"    %[2]stool login --origin %[3]s --with-token\n\n", db, allow, address)
}

// serving is a hub that serves.
type serving struct {
	hub    *hubserver.Server
	server *hubserver.HTTPServer
	serve  func() error
	delay  time.Duration
	log    *slog.Logger
}

// until serves until ctx ends. Then the hub reports for the delay that it is not ready, while
// it still serves, stops listening, and waits for the requests in progress.
func (r serving) until(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- r.serve() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	r.hub.Drain()
	if r.delay > 0 {
		r.log.Info("draining: /readyz fails, requests are still served", "for", r.delay)
		select {
		case err := <-failed:
			return err
		case <-time.After(r.delay):
		}
	}
	r.log.Info("stopping: requests in progress may finish", "within", drainTime)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := r.server.Shutdown(drain); err != nil {
		r.log.Warn("requests were cut off", "error", err)
		return r.server.Close()
	}
	return nil
}

func (a *app) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Create or update the database",
		Long:  "Create the database, or update its schema. hub serve does the same first.",
		Args:  cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			s, unlock, done, err := a.openMigrated(c.Context(), store.Options{Create: true})
			if errors.Is(err, store.ErrInUse) {
				return &hintedError{err: err, hint: "stop it first; a hub of this release migrates its database when it starts"}
			}
			if err != nil {
				return err
			}
			defer s.Close()
			defer func() { _ = unlock() }()
			return a.print(map[string]any{"type": "migrated", "schema": 1, "migrations": append([]string{}, done...)}, func(w io.Writer) {
				if len(done) == 0 {
					fmt.Fprintln(w, "The schema is up to date")
				}
				for _, name := range done {
					fmt.Fprintln(w, "Migrated", name)
				}
			})
		},
	}
}
