package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// How many connections to PostgreSQL may be open: by default, and at least.
const (
	DefaultConnections = 32
	MinConnections     = 4
)

// connectTime bounds how long it takes to connect to PostgreSQL, over all hosts in the address.
const connectTime = 5 * time.Second

// sessionTimes are PostgreSQL's own limits, by setting, unless the address sets them. They end transactions of a
// hub that hangs or has lost its network.
var sessionTimes = map[string]time.Duration{
	"lock_timeout":                        lockTime,
	"statement_timeout":                   queryTime,
	"idle_in_transaction_session_timeout": transactionTime,
}

func (db *DB) openPostgres(address string, connections int) error {
	if connections == 0 {
		connections = DefaultConnections
	}
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return fmt.Errorf("%w: what follows postgres:// is invalid", ErrAddress) // the cause may quote the password
	}
	cfg.DialFunc = (&net.Dialer{Control: endUnanswered}).DialContext
	limitConnect(cfg)
	// A write that waits for a lock keeps its connection: reads need connections of their own.
	forWrites := max(connections, MinConnections) / 2
	db.writes = openPool(cfg, forWrites)
	db.reads = openPool(cfg, max(connections, MinConnections)-forWrites)
	db.view, db.lists = numbered{db: db.reads}, bun.NewDB(db.reads, pgdialect.New())
	return nil
}

// limitConnect bounds the time to connect to each host, so that hosts that do not answer leave time for the one
// that does. Of several hosts, only the one that accepts writes is used, whichever that is at the moment.
func limitConnect(cfg *pgx.ConnConfig) {
	hosts := map[string]bool{net.JoinHostPort(cfg.Host, fmt.Sprint(cfg.Port)): true}
	for _, other := range cfg.Fallbacks { // which include the same host without TLS
		hosts[net.JoinHostPort(other.Host, fmt.Sprint(other.Port))] = true
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTime / time.Duration(len(hosts))
	}
	if len(hosts) > 1 && cfg.ValidateConnect == nil { // no target_session_attrs
		cfg.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

func openPool(cfg *pgx.ConnConfig, connections int) *sql.DB {
	pool := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(limitSession))
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	// A new connection costs PostgreSQL a process and the plans of all statements.
	pool.SetConnMaxIdleTime(5 * time.Minute)
	pool.SetConnMaxLifetime(30 * time.Minute)
	return pool
}

// limitSession sets the session's times. It uses statements, because a pooler such as pgbouncer
// refuses these settings as parameters of a connection.
func limitSession(ctx context.Context, conn *pgx.Conn) error {
	var b strings.Builder
	for name, limit := range sessionTimes {
		if _, set := conn.Config().RuntimeParams[name]; !set {
			fmt.Fprintf(&b, "SET %s = %d;", name, limit.Milliseconds())
		}
	}
	_, err := conn.PgConn().Exec(ctx, b.String()).ReadAll()
	return err
}
