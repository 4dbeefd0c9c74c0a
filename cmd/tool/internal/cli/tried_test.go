package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/term"
)

func TestTool_SaysWhatToTypeInsteadOfANameThatPeopleTry(t *testing.T) {
	for typed, want := range map[string]string{
		"whoami": "error: tool has no command \"whoami\": did you mean status?\n  try: tool status\n  help: tool --help\n",
		"open": "error: tool has no command \"open\": did you mean project view?\n  try: " +
			"tool project view web --web\n  help: tool --help\n",
		"rollback": "error: tool has no command \"rollback\": did you mean log?\n  hint: " + hints["rollback"] +
			"\n  try: tool log web\n  help: tool --help\n",
		"create": "error: tool has no command \"create\": did you mean project create?\n  try: " +
			"tool project create web\n  help: tool --help\n",
		"auth": "error: tool has no command \"auth\": did you mean login?\n  try: tool login\n  help: tool --help\n",
		"auth status": "error: tool has no command \"auth\": did you mean status?\n  try: tool status web\n" +
			"  help: tool --help\n",
		"secret":  "error: tool has no command \"secret\"\n  help: tool --help\n", // secrets is a topic of help
		"clone":   "error: tool has no command \"clone\": did you mean pull?\n  try: tool pull web\n  help: tool --help\n",
		"rollbck": "error: tool has no command \"rollbck\"\n  help: tool --help\n",
		"psuh":    "error: tool has no command \"psuh\": did you mean push?\n  try: tool push web\n  help: tool --help\n",
	} {
		args := append(strings.Fields(typed), "web")
		if typed == "whoami" {
			args = args[:1]
		}
		var out, errs bytes.Buffer
		code := Main(args, os.LookupEnv, term.Streams{In: new(bytes.Buffer), Out: &out, Err: &errs})
		if code != 2 || errs.String() != want {
			t.Errorf("%s: %d %s", typed, code, errs.String())
		}
	}
}

func TestTried_AreNoCommandsAndLeadToOnes(t *testing.T) {
	root := Tree()
	for name, line := range tried {
		if c, _, err := root.Find([]string{name}); err == nil && c != root {
			t.Errorf("%s is a command", name)
		}
		if c, rest, err := root.Find(line.Words); err != nil || len(rest) > 0 || c.HasSubCommands() {
			t.Errorf("%s leads to %s, which is no command", name, line)
		}
	}
}
