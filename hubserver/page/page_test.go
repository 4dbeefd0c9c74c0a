package page

import (
	"testing"
	"time"

	"example.com/projecthub/store"
)

func TestAgo(t *testing.T) {
	for _, test := range []struct {
		at   time.Duration
		want string
	}{
		{0, "just now"}, {-3 * time.Minute, "3 minutes ago"}, {-25 * time.Hour, "1 day ago"},
		{2*time.Hour + time.Minute, "in 2 hours"},
	} {
		if got := ago(store.At(time.Now().Add(test.at))); got != test.want {
			t.Errorf("%v: %q, want %q", test.at, got, test.want)
		}
	}
}

func TestBrowser(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0": "Firefox 153 on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36" +
			" (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36": "Chrome 156 on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36" +
			" (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0": "Edge 156 on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15" +
			" (KHTML, like Gecko) Version/26.1 Safari/605.1.15": "Safari 26 on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15" +
			" (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1": "Safari 26 on iOS",
		"Mozilla/5.0 (Linux; Android 16; Pixel 10) AppleWebKit/537.36" +
			" (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36": "Chrome 156 on Android",
		"Lynx/2.9": "Lynx/2.9",
		"Firefox/": "Firefox",
		"":         "unknown browser",
	} {
		if got := browser(agent); got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}

func TestSignIn_Command(t *testing.T) {
	for to, want := range map[string]string{
		"/@acme/web":                "tool project view @acme/web --web",
		"/@acme/web/history?of=all": "tool project view @acme/web --web",
		"/@acme/web?q=portal":       "tool project view @acme/web --web",
		"/@acme/$(reboot)":          "tool project view --web",
		"/@acme":                    "tool project view --web",
		"/":                         "tool project view --web",
	} {
		if got := (SignIn{To: to}).Command(); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}
