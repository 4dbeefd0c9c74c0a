package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
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
	importAllow                  []string
	limits                       hubserver.Limits
	grace                        time.Duration
	drainDelay                   time.Duration
	connections                  int
}

func (a *app) serveCommand() *cobra.Command {
	o := serveOptions{limits: hubserver.DefaultLimits, grace: store.DefaultGrace, connections: store.DefaultConnections}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the hub",
		Long: "Run the hub on its database, which is created or updated first.\n\n" +
			"The first line on stdout is the hub's address, once it is ready; the log goes to\n" +
			"stderr. SIGTERM lets requests in progress finish. A SQLite file is served by one\nhub at a time; any number " +
			"of hubs can use one PostgreSQL database.",
		Example: "  hub serve\n  hub serve --db postgres://hub@db.example.com/hub --listen 0.0.0.0:4680 \\\n    --public-url https://hub.example.com",
		Args:    cmdline.Exactly(),
		RunE:    func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:4680", "listen on `ADDRESS:PORT` (HUB_LISTEN)")
	f.StringVar(&o.publicURL, "public-url", "", "set the `ORIGIN` that people use, required beyond loopback (HUB_PUBLIC_URL)")
	f.StringVar(&o.logFormat, "log", "text", "write the log on stderr in this `FORMAT`: text or json (HUB_LOG)")
	f.StringArrayVar(&o.importAllow, "import-allow", nil, "let API import reach the non-public `CIDR[:PORT]`; repeatable (HUB_IMPORT_ALLOW: separated by commas)")
	graceFlag(c, &o.grace)
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
	debug.SetMemoryLimit(o.limits.Memory + ownMemory)
	s, unlock, err := a.openForServing(ctx, o.connections)
	if err != nil {
		return err
	}
	defer s.Close()
	defer func() { _ = unlock() }()
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return listenError(o.listen, a.line(cmdline.Hub("serve").Flag("--listen", anyPort(o.listen))), err)
	}
	address := "http://" + listener.Addr().String()
	if o.publicURL != "" {
		address = o.publicURL
	}
	own, err := url.Parse(address)
	if err != nil {
		return err
	}
	hub := hubserver.New(hubserver.Config{
		Store: s, PublicURL: address, Version: cmdline.Version(version), Log: log, Limits: o.limits,
		Fetch: fetch.New(fetch.Options{Own: own, Allow: allow, Version: cmdline.Version(version), MaxBytes: o.limits.DescriptionBytes}),
	})
	if isOpen(own) {
		log.Warn("plain http beyond this machine: tokens can be read in transit, and tool refuses to send one; put TLS in front", "public-url", address)
	}
	a.welcome(ctx, s, own)
	defer saveTokenUses(hub, log)
	defer startMaintenance(ctx, s, hub, o.grace, log)()
	log.Info("serving", "listen", listener.Addr().String(), "public-url", address, "version", cmdline.Version(version))
	return a.run(ctx, hub, listener, address, o.drainDelay, log)
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

// check refuses options with which nobody could use the hub.
func (o *serveOptions) check() error {
	if o.drainDelay < 0 {
		return cmdline.Usagef("--drain-delay is 0s or a positive duration, such as 10s")
	}
	if err := checkGrace(o.grace); err != nil {
		return err
	}
	if o.limits.Memory < leastMemory {
		return cmdline.Usagef("--memory %d is too little: a hub needs at least %d bytes", o.limits.Memory, leastMemory)
	}
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil {
		return cmdline.Usagef("--listen %q is not ADDRESS:PORT", o.listen)
	}
	if !isLoopback(host) && o.publicURL == "" {
		return cmdline.Usagef("listening on %s, beyond this machine, needs --public-url: the address that people use", o.listen).
			Try(cmdline.Hub("serve").Flag("--listen", net.JoinHostPort(host, port)).Flag("--public-url", "https://hub.example.com"))
	}
	if o.publicURL != "" {
		if o.publicURL, err = hubclient.ParseOrigin(o.publicURL); err != nil {
			return cmdline.Usagef("--public-url: %v", err)
		}
	}
	return nil
}

// isLoopback reports whether a host is this machine by its name or its address.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// isOpen reports whether tokens can be read in transit to a hub at this address.
func isOpen(address *url.URL) bool {
	return address.Scheme == "http" && !isLoopback(address.Hostname())
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

// openForServing opens the database, locks it and migrates it.
func (a *app) openForServing(ctx context.Context, connections int) (*store.Store, func() error, error) {
	s, err := a.open(ctx, store.Options{Create: true, Connections: connections})
	if err != nil {
		return nil, nil, err
	}
	unlock, err := s.Lock()
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	if _, err := s.Migrate(ctx); err != nil {
		return nil, nil, errors.Join(err, unlock(), s.Close())
	}
	return s, unlock, nil
}

// welcome prints how to create the first account of an empty hub.
func (a *app) welcome(ctx context.Context, s *store.Store, address *url.URL) {
	var accounts []store.Account
	err := s.Read(ctx, func(v *store.View) (err error) {
		accounts, err = v.Accounts(ctx)
		return err
	})
	if err != nil || len(accounts) > 0 {
		return
	}
	db := `"$HUB_DB"` // an address may hold a password
	if path := store.Path(a.db); path != "" {
		db = cmdline.Quote("sqlite:" + path)
	}
	allow := ""
	if isOpen(address) {
		allow = "TOOL_ALLOW_HTTP=1 "
	}
	fmt.Fprintf(a.err, "This hub is empty. In another terminal, create an account and a token, and log in:\n\n"+
		"  hub account create --db %[1]s alice\n"+
		"  hub token create --db %[1]s --user alice --name laptop --scope write:catalog --scope admin:resource |\n"+
		"    %[2]stool login --origin %[3]s --with-token\n\n", db, allow, address)
}

// run serves until ctx ends. Then it reports for the delay that it is not ready, while
// it still serves, stops listening, and waits for the requests in progress.
func (a *app) run(ctx context.Context, hub *hubserver.Server, listener net.Listener, address string, delay time.Duration, log *slog.Logger) error {
	server := hub.HTTPServer()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintln(a.out, address)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	hub.Drain()
	if delay > 0 {
		log.Info("draining: /readyz fails, requests are still served", "for", delay)
		select {
		case err := <-failed:
			return err
		case <-time.After(delay):
		}
	}
	log.Info("stopping: requests in progress may finish", "within", drainTime)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		log.Warn("requests were cut off", "error", err)
		return server.Close()
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
			s, err := a.open(c.Context(), store.Options{Create: true})
			if err != nil {
				return err
			}
			defer s.Close()
			unlock, err := s.Lock()
			if errors.Is(err, store.ErrInUse) {
				return fmt.Errorf("%w: it has migrated already", err)
			}
			if err != nil {
				return err
			}
			defer func() { _ = unlock() }()
			done, err := s.Migrate(c.Context())
			if err != nil {
				return err
			}
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
