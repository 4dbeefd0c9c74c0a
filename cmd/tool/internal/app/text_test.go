package app_test

import (
	"testing"
	"time"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/wire"
)

func TestAgo(t *testing.T) {
	const day = 24 * time.Hour
	for past, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", 59 * time.Second: "just now",
		time.Minute: "1 min ago", 59 * time.Minute: "59 min ago",
		time.Hour: "1 h ago", 23 * time.Hour: "23 h ago",
		day: "1 d ago", 364 * day: "364 d ago", 800 * day: "2 y ago",
	} {
		if got := app.Ago(time.Now().Add(-past)); got != want {
			t.Errorf("%v: %q, want %q", past, got, want)
		}
	}
}

func TestExpiry_SaysTheTimeOfTheLastDay(t *testing.T) {
	soon, later := time.Now().Add(23*time.Hour), time.Now().Add(25*time.Hour)
	for want, end := range map[string]*time.Time{
		"never expires": nil, "expires " + app.Time(soon): &soon, "expires " + later.Format("2 Jan 2006"): &later,
	} {
		if got := app.Expiry(end); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEdit_SaysHowLongAgo(t *testing.T) {
	e := wire.Edit{UpdatedBy: "bob", UpdatedAt: time.Now().Add(-2 * time.Hour), UpdatedVia: wire.ViaPush}
	if got := app.Edit(e); got != "written by bob 2 h ago through push" {
		t.Errorf("%q", got)
	}
}
