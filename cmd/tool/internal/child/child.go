// Package child starts other programs, such as git and the browser, without the
// secrets of this one in their environment. It is the only package of tool that
// may import os/exec.
//
// It does not know what the programs are for.
package child

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

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
