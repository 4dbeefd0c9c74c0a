package hubserver_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// injections are texts that mean something to SQL, to its drivers or to bun.
var injections = []string{
	`' OR '1'='1`, `'`, `"`, `\`, `\'`, "`", `' OR 1=1--`, `') OR ('1'='1`, `" OR ""="`, `'; DROP TABLE projects; --`,
	`"; DROP TABLE projects; --`, `1; DELETE FROM tokens`,
	`' UNION SELECT hash FROM tokens --`, `' UNION ALL SELECT NULL,NULL,NULL --`, `' || pg_sleep(9) || '`,
	`1; SELECT pg_sleep(9)`, `'||(SELECT 1/0)||'`, `' AND 1=CAST((SELECT hash FROM tokens LIMIT 1) AS int) --`,
	`?`, `??`, `?0`, `?TableName`, `?TableAlias`, `?PKs`, `$1`, `$$`, `$$;DROP TABLE projects;$$`, `:name`, `@p1`, `%`,
	`_`, `%' --`, `[a-z]`, `*`, `/*`, `*/`, `'/**/OR/**/1=1`, `--`, `#`,
	`0x27`, `char(39)`, `%27`, `%2527`, `E'\x27'`, `U&'\0027'`, "\u02bc OR 1=1", "\uff07 OR 1=1", "\u00bf'",
	"\xbf' OR 1=1", "a\x00' OR 1=1", "'\nOR 1=1\n--", `'; ATTACH DATABASE 'x.db' AS x; --`,
	`'; PRAGMA writable_schema=1; --`,
	`'; COPY projects TO '/tmp/x'; --`, `'; SET ROLE postgres; --`, `acme' AND slug='private`, `acme/private' --`,
	`{"$ne": null}`, `' ESCAPE '\`, `NULL`, `-1`, `9223372036854775808`, `1e999`, `true`, `->>'a'`, `@>'{}'`, `(SELECT 1)`,
}

// Each text in each place of a request to each route neither makes the hub fail, nor
// changes or shows anything of another account. Who has no right changes nothing at all.
func TestInjection_ChangesAndBreaksNothing(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, hub *testHub) {
		m := &matrix{testHub: hub}
		hub.write(func(tx *store.Tx) error { return tx.CreateAccount("olga", store.KindUser) })
		m.kind = "private"
		for _, m.account = range []string{"olga", "acme"} {
			m.furnishKind()
		}
		hub.client.Transport = hub.client.Transport.(*recorder).next // most of this is outside of the contract
		anna, sam := hub.as("anna"), hub.as("sam")
		ask := func(who *caller, q asked) {
			t.Helper()
			a, err := who.try(q.method, q.path, q.body, q.header)
			if err != nil {
				t.Fatalf("%s %s %v: %v", q.method, q.path, q.header, err)
			}
			said := requestID.ReplaceAllString(string(a.body), "") // which can have any four letters
			if a.status >= 500 || strings.Contains(said, "olga") && !strings.Contains(q.path, "olga") {
				t.Errorf("%s %s %v %v: %d %.300s", q.method, q.path, q.header, q.body, a.status, a.body)
			}
		}
		sent, turn, each := 0, 0, rounds(1, len(injections)) // of the texts, for each place
		others := hub.of("olga")
		for _, e := range endpoints {
			for _, put := range m.places(&e) {
				for range each {
					turn, sent = turn+1, sent+1
					ask(anna, put(injections[turn%len(injections)]))
				}
			}
		}
		if after := hub.of("olga"); after != others {
			t.Errorf("before\n%s\nafter\n%s", others, after)
		}
		var ofOthers []place
		for _, e := range endpoints {
			if e.Account != wire.Anonymous && e.Account != wire.AnyToken { // some create what is sam's own
				ofOthers = append(ofOthers, m.places(&e)...)
			}
		}
		before := hub.dump()
		for _, put := range ofOthers {
			for range each {
				turn, sent = turn+1, sent+1
				ask(sam, put(injections[turn%len(injections)]))
			}
		}
		if after := hub.dump(); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		t.Logf("%d texts, %d requests", len(injections), sent)
	})
}

// of returns the names of all tables, and the rows of each that name an account.
func (h *testHub) of(account string) string {
	h.Helper()
	var all strings.Builder
	h.eachTable(func(table string, rows [][]string) {
		fmt.Fprintln(&all, table)
		for _, row := range rows {
			if strings.Contains(fmt.Sprint(row), account) {
				fmt.Fprintln(&all, row)
			}
		}
	})
	return all.String()
}
