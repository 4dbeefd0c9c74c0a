package child

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"example.com/projecthub/hubclient"
)

// ErrNoBrowser says that a browser has to be opened by hand, elsewhere.
var ErrNoBrowser = errors.New("no browser could be started")

// OpenBrowser opens a page of a hub: only one of its origin. That no browser is shown may
// go unnoticed, but over SSH none is started where nobody would see it.
func OpenBrowser(getenv func(string) string, origin, address string) error {
	if err := hubclient.CheckPage(origin, address); err != nil {
		return err
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
