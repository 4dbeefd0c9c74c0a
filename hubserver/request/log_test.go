package request

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
)

func TestTokenless_CutsTokensAndLongValues(t *testing.T) {
	token := pat.New()
	var b bytes.Buffer
	log := slog.New(tokenless{slog.NewTextHandler(&b, nil)})
	log = log.With("with", "x"+token).WithGroup("g")
	log.Info("message "+token, "path", "/"+token+"/"+token, "any", []string{token}, "n", 7)
	got, shown := b.String(), pat.Shown(token)+"…"
	if strings.Contains(got, token) || strings.Count(got, shown) != 5 || !strings.Contains(got, "g.n=7") {
		t.Errorf("logged: %s", got)
	}
	b.Reset()
	log = slog.New(tokenless{slog.NewTextHandler(&b, nil)})
	log.Info("x", "path", strings.Repeat("ä", maxLogged), "stack", strings.Repeat("s", 3*maxLogged))
	if n := b.Len(); n < 4*maxLogged || n > 5*maxLogged {
		t.Errorf("%d bytes were logged", n)
	}
}
