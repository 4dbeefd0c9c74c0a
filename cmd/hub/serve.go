package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/certificate"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// drainTime is how long requests in progress may take after SIGTERM.
const drainTime = 10 * time.Second

// ownMemory is what a hub uses in addition to the budget of its requests. The garbage
// collector works harder as the process comes close to the sum.
const ownMemory = 24 << 20

func (a *app) serveCommand() *cobra.Command {
	o := &serveOptions{
		Config: hubserver.Config{Version: cmdline.Version(version), Limits: hubserver.DefaultLimits},
		keep:   store.DefaultRetention, days: int(store.DefaultRetention.Age / days(1)), auditDays: auditDays,
		connections: store.DefaultConnections,
	}
	c := cmdline.Command("serve", "Run the hub", func(c *cobra.Command, _ []string) error {
		o.given = a.given(c)
		if err := o.check(a.err); err != nil {
			return err
		}
		debug.SetMemoryLimit(o.Limits.Memory + ownMemory)
		db := store.Options{Connections: o.connections}
		return a.withMigrated(c.Context(), "--db", a.db, db, func(s *store.Store, _ []string) error {
			s.Retention = o.keep
			s.Retention.Age = days(o.days)
			return a.serve(c.Context(), s, o)
		})
	})
	c.Long = "Run the hub on its database, which is created or updated first.\n\n" +
		"The first line on stdout is the hub's address, once it is ready; the log goes to\n" +
		"stderr. SIGTERM lets requests in progress finish. A SQLite file is served by one\n" +
		"hub at a time; any number of hubs can use one PostgreSQL database."
	c.Example = "  hub serve\n  hub serve --db postgres://hub@db.example.com/hub --listen 0.0.0.0:4680 \\\n" +
		"    --public-url https://hub.example.com\n  hub serve --listen 0.0.0.0:443 --tls-domain hub.example.com"
	o.addFlags(c.Flags())
	return c
}

// given returns the command line that was given, to which flags may be added.
func (a *app) given(c *cobra.Command) cmdline.Line {
	l := cmdline.Of(c)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if repeatable, ok := f.Value.(pflag.SliceValue); ok {
			values = repeatable.GetSlice()
		}
		for _, value := range values {
			if f.Changed {
				l = l.Flag("--"+f.Name, value)
			}
		}
	})
	return a.withDB(l)
}

// serve serves until ctx ends.
func (a *app) serve(ctx context.Context, s *store.Store, o *serveOptions) error {
	var secure *tls.Config        // nil: plain HTTP
	var obtainCertificates func() // nil: there is nothing to obtain
	switch {
	case o.tlsCert != "":
		var err error
		if secure, err = certificate.Files(o.tlsCert, o.tlsKey, o.Log); err != nil {
			return err
		}
	case len(o.tlsDomains) > 0:
		secure, obtainCertificates = certificate.ACME(o.tlsDomains, o.tlsACME, s, o.Log)
	}
	listener, err := a.listen("--listen", o.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	o.PublicURL = cmp.Or(o.PublicURL, scheme+listener.Addr().String())
	own, err := url.Parse(o.PublicURL)
	if err != nil {
		return err
	}
	o.Store = s
	o.Fetch = fetch.New(fetch.Options{
		Own: own, Allow: o.allow, Version: o.Version, MaxBytes: o.Limits.DescriptionBytes,
	})
	hub := hubserver.New(o.Config)
	if request.IsOpen(own) {
		o.Log.Warn("plain http beyond this machine: tokens can be read in transit, and tool refuses to send one; "+
			"use --tls-domain or --tls-cert, or put TLS in front", "public-url", o.PublicURL)
	}
	if o.adminListen != "" {
		metrics, err := a.listen("--admin-listen", o.adminListen)
		if err != nil {
			return err
		}
		server := hub.AdminServer(o.adminListen)
		defer server.Close()
		go func() {
			if err := server.Serve(metrics); !errors.Is(err, http.ErrServerClosed) {
				o.Log.Error("metrics are no longer served", "error", err)
			}
		}()
		o.Log.Info("serving metrics", "listen", metrics.Addr().String())
	}
	if accounts, err := s.View(ctx).Accounts(); err == nil && len(accounts) == 0 {
		a.welcome(own)
	}
	defer startMaintenance(ctx, hub, days(o.auditDays))()
	o.Log.Info("serving", "listen", listener.Addr().String(), "public-url", o.PublicURL, "version", o.Version)
	if obtainCertificates != nil {
		go obtainCertificates()
	}
	fmt.Fprintln(a.out, o.PublicURL)
	return serveUntil(ctx, hub, hub.HTTPServer(secure), hub.Listener(listener), o.drainDelay)
}

// listen listens on the address that a flag names, or says what to do about a port that is in use.
func (a *app) listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	err = fmt.Errorf("cannot listen on %s: %w", address, err)
	if errors.Is(err, syscall.EADDRINUSE) {
		host, _, _ := net.SplitHostPort(address)
		other := cmdline.Hub("serve").Flag(flag, net.JoinHostPort(host, "0"))
		err = hint(err, "another program listens there, perhaps another hub; to use any free port", a.line(other))
	}
	return nil, err
}

// welcome prints how to create the first account of an empty hub.
func (a *app) welcome(address *url.URL) {
	allow := ""
	if request.IsOpen(address) {
		allow = "TOOL_ALLOW_HTTP=1 "
	}
	fmt.Fprintf(a.err, "This hub is empty. In another terminal, create an account and a token, and log in:\n\n"+
		"  hub account create --db %[1]s alice\n"+
		"  hub token create --db %[1]s --user alice --name laptop --scope write:catalog --scope admin:resource |\n"+
		"    %[2]stool login --origin %[3]s --with-token\n\n", a.quotedDB(), allow, address)
}

// serveUntil serves until ctx ends. Then the hub reports for the delay that it is not ready, while it
// still serves, stops listening, and waits for the requests in progress.
func serveUntil(
	ctx context.Context, hub *hubserver.Server, server *http.Server, listener net.Listener, delay time.Duration,
) error {
	failed := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			failed <- server.ServeTLS(listener, "", "")
		} else {
			failed <- server.Serve(listener)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	hub.Drain()
	if delay > 0 {
		hub.Log.Info("draining: /readyz fails, requests are still served", "for", delay)
		time.Sleep(delay)
	}
	hub.Log.Info("stopping: requests in progress may finish", "within", drainTime)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		hub.Log.Warn("requests were cut off", "error", err)
		return server.Close()
	}
	return nil
}
