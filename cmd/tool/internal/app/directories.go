package app

import (
	"os"
	"path/filepath"
	"runtime"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/state"
)

func (a *App) configDir() (string, error) { return a.directory("TOOL_CONFIG_DIR", os.UserConfigDir) }

// directory returns the program's own directory of one kind: that of a variable,
// else tool in the user's.
func (a *App) directory(variable string, users func() (string, error)) (string, error) {
	if dir := a.Getenv(variable); dir != "" {
		return dir, nil
	}
	dir, err := users()
	if err != nil {
		return "", failure.New(failure.CodeInvalidFile, "no directory for the program's own files: %w", err).
			WithHint("set %s", variable)
	}
	return filepath.Join(dir, "tool"), nil
}

// CacheDir returns the directory for what can be made again, "" when there is none.
func (a *App) CacheDir(name string) string {
	if a.Cache != "" {
		return filepath.Join(a.Cache, name)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tool", name)
}

// State returns the directory for what is to last, such as what pulls replaced.
func (a *App) State() state.Dir {
	dir, err := a.directory("TOOL_STATE_DIR", userStateDir)
	if err != nil {
		dir = "" // saving fails, and says so
	}
	return state.Dir(dir)
}

// userStateDir returns the user's directory for what is to last but need not be
// taken along, as the platform has it.
func userStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	switch runtime.GOOS {
	case "windows", "darwin", "ios":
		return os.UserConfigDir()
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

// SyncState returns what the hub is known to have.
func (a *App) SyncState() *state.Sync { return state.NewSync(a.CacheDir("revisions")) }
