package child

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
)

// ErrNoBrowser says that a browser has to be opened by hand, elsewhere.
var ErrNoBrowser = errors.New("no browser could be started")

// OpenBrowser opens an address that a hub gave: only a web page's. That no browser is
// shown may go unnoticed, but over SSH none is started where nobody would see it.
func OpenBrowser(getenv func(string) string, address string) error {
	if !isPage(address) {
		return fmt.Errorf("%q is not the address of a web page", address)
	}
	if getenv("SSH_CONNECTION") != "" && getenv("DISPLAY")+getenv("WAYLAND_DISPLAY")+getenv("BROWSER") == "" {
		return fmt.Errorf("%w: this is a terminal over SSH", ErrNoBrowser)
	}
	opener := []string{"xdg-open"}
	switch runtime.GOOS {
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case "darwin":
		opener = []string{"open"}
	}
	command, err := Command(context.Background(), opener[0], append(opener[1:], address)...)
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoBrowser, err)
	}
	return command.Process.Release()
}

// isPage reports whether address is that of a web page. What opens one, such as xdg-open with
// BROWSER, may pass it on through a shell, or divide it into arguments at its spaces.
func isPage(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		!strings.ContainsFunc(address, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~:/?#[]@&=+%,", r))
		})
}
