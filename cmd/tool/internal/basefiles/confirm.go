package basefiles

import (
	_ "embed"
	"path"
	"strings"
	"sync"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/hubclient/tree"
)

//go:embed run.gitignore
var run []byte

// runRules match, in lower case, files that other programs run, or read what to run from.
var runRules = sync.OnceValue(func() *ignore.Rules { return ignore.Compile(run, "") })

// ToConfirm reports whether a person is to be asked before a file is added to an app: it
// says what a push sends, or no push would send it, or other programs run it.
func ToConfirm(e tree.Entry) bool {
	lower := strings.ToLower(e.Path) // as some file systems read it
	_, others := builtIn()
	return e.Mode == tree.Executable || lower == toolignore || excludes(runRules(), lower) ||
		HoldsSecrets(e.Path) || excludes(others, e.Path) || excludes(others, lower)
}

// excludes reports whether rules exclude a file, or a directory that it is in.
func excludes(rules *ignore.Rules, name string) bool {
	for dir := false; name != "."; name, dir = path.Dir(name), true {
		if rule := rules.Match(name, dir); rule != nil && !rule.Keeps {
			return true
		}
	}
	return false
}
