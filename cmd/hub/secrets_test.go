package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

// passwords are addresses of databases that cannot be opened, with a password each.
var passwords = []string{
	"postgres://hub:SECRET@127.0.0.1:1/hub",
	"postgresql://hub:SECRET@127.0.0.1:1,127.0.0.1:2/hub?sslmode=disable",
	"postgres://127.0.0.1:1/hub?user=hub&password=SECRET",
	"postgres://hub:SECRET@127.0.0.1:port/hub",
	"postgres://hub:SECRET%zz@127.0.0.1/hub",
	"postgres://hub:SECRET@[::1/hub",
	"postgres://hub:SECRET@127.0.0.1:1/hub?sslmode=SECRET",
	"postgres://hub:SECRET@127.0.0.1:1/hub?connect_timeout=SECRET",
	"postgres://hub:SECRET@127.0.0.1:1/hub?sslrootcert=/nonexistent/SECRET",
	"postgres://hub:SEC\nRET@127.0.0.1/hub",
	"postgres:hub:SECRET@127.0.0.1/hub",
	"Postgres://hub:SECRET@127.0.0.1/hub",
	"mysql://hub:SECRET@127.0.0.1/hub",
	"hub:SECRET@tcp(127.0.0.1)/hub",
	"host=127.0.0.1 port=1 user=hub password=SECRET",
	"user=hub password=SECRET",
}

func TestCommands_NeverPrintThePasswordOfTheDatabase(t *testing.T) {
	addresses := passwords
	if base := os.Getenv(storetest.PostgresVariable); base != "" { // one that answers, and has no such role
		addresses = append(addresses, strings.Replace(base, "postgres://postgres@", "postgres://nobody_SECRET:SECRET@", 1))
	}
	for _, address := range addresses {
		for _, args := range [][]string{
			{"serve", "--listen", "127.0.0.1:0"}, {"serve", "--listen", "127.0.0.1:0", "--log", "json"}, {"migrate", "--json"},
			{"account", "list"},
			{"backup", "file"}, {"copy", "--to", address},
		} {
			for _, from := range []string{"flag", "environment"} {
				var out bytes.Buffer
				env := map[string]string{}
				line := args
				if from == "flag" {
					line = append([]string{"--db", address}, args...)
				} else {
					env["HUB_DB"] = address
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				code := run(ctx, line, strings.NewReader(""), &out, &out, func(name string) string { return env[name] })
				cancel()
				if code == exitDone || strings.Contains(strings.ReplaceAll(out.String(), "nobody_SECRET", ""), "SECRET") ||
					strings.Contains(out.String(), "SEC\n") {
					t.Errorf("%q from the %s, %q: exit code %d\n%s", address, from, args, code, out.String())
				}
			}
		}
	}
}

func TestCommands_NeverPrintSecretsOfTLS(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "hub.key")
	for _, text := range []string{"-----BEGIN PRIVATE KEY-----\nnightingale\n-----END PRIVATE KEY-----\n", "nightingale",
		"-----BEGIN CERTIFICATE-----\nbmlnaHRpbmdhbGU=\n-----END CERTIFICATE-----\n"} {
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		checkNoSecret(t, []string{"serve", "--listen", "127.0.0.1:0", "--db", storetest.SQLite(t), "--tls-cert", key,
			"--tls-key", key})
	}
}

// checkNoSecret runs a command that fails.
func checkNoSecret(t *testing.T, args []string) {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if code := run(ctx, args, strings.NewReader(""), &out, &out, func(string) string { return "" }); code == exitDone ||
		strings.Contains(out.String(), "nightingale") || strings.Contains(out.String(), "bmlnaHRpbmdhbGU=") {
		t.Errorf("%q: exit code %d\n%s", args, code, out.String())
	}
}
