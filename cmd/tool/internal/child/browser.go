package child

import (
	"context"
	"fmt"
	"runtime"
	"strings"
)

// OpenBrowser opens an address that a hub gave: only a web page's. That no browser is
// shown may go unnoticed.
func OpenBrowser(address string) error {
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return fmt.Errorf("%q is not the address of a web page", address)
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
		return fmt.Errorf("no browser could be started: %w", err)
	}
	return command.Process.Release()
}
