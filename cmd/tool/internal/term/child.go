package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
)

// Command returns a command that can be started with an environment without
// secrets. The program is looked up in PATH, never in the current directory.
func Command(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Env = Environment(os.Environ())
	return c, nil
}

// Environment returns env without the variables that hold secrets: tool's token,
// the hub's settings, which may hold the password of its database, and every
// variable with a token in its value. Nothing that tool starts needs them.
func Environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name) // Windows does not distinguish them
		return name == "TOOL_HUB_TOKEN" || strings.HasPrefix(name, "HUB_") || pat.Index([]byte(value)) >= 0
	})
}

// ErrNoBrowser says that a browser has to be opened by hand, elsewhere.
var ErrNoBrowser = errors.New("no browser could be started")

// openWithin is how long to wait for the opener, which may run as long as the browser.
const openWithin = time.Second

// OpenBrowser opens a page of a hub, which must be of its origin. opened is true if the opener
// ended well; one that still runs after openWithin may have opened the page or not. Over SSH no
// browser is started, because nobody would see it.
func OpenBrowser(getenv func(string) string, origin, address string) (opened bool, err error) {
	if err := hubclient.CheckPage(origin, address); err != nil {
		return false, err
	}
	if getenv("SSH_CONNECTION") != "" && getenv("DISPLAY")+getenv("WAYLAND_DISPLAY")+getenv("BROWSER") == "" {
		return false, fmt.Errorf("%w: this is a terminal over SSH", ErrNoBrowser)
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
		return false, fmt.Errorf("%w: %w", ErrNoBrowser, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return false, fmt.Errorf("%w: %s: %w", ErrNoBrowser, opener[0], err)
		}
		return true, nil
	case <-time.After(openWithin):
		return false, nil
	}
}
