package golden_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// completed asks bash how it completes a line.
func completed(t *testing.T, w *world, line string) []string {
	t.Helper()
	words := strings.Split(line, " ")
	// What the package bash-completion has, as far as the script needs it.
	script := fmt.Sprintf(`_get_comp_words_by_ref() {
  cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
}
compopt() { :; }
source <(tool completion bash)
COMP_WORDS=(%s); COMP_CWORD=%d; COMP_LINE=%q; COMP_POINT=%d; COMP_TYPE=9; COMP_KEY=9
__start_tool
printf '%%s\n' "${COMPREPLY[@]}"`, quoted(words), len(words)-1, line, len(line))
	c := exec.Command(need(t, "bash", "apt-get install bash"), "--norc", "--noprofile", "-c", script)
	c.Dir, c.Env = w.dir, w.env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := strings.Fields(string(out))
	slices.Sort(found)
	return found
}

func quoted(words []string) string {
	var all []string
	for _, word := range words {
		all = append(all, "'"+word+"'")
	}
	return strings.Join(all, " ")
}

func TestCompletion_Bash(t *testing.T) {
	w := newLocal(t, before)
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "2.0.0-beta"}`)
	w.must("project", "create", "web", "--stack-version", "1.0.0")
	w.must("publish")
	w.write(".tool/admin/client.json", `{"settings": {}}`)
	for line, want := range map[string]string{
		"tool pu":                                "publish pull push",
		"tool project ":                          "copy create edit list rename restore rm view",
		"tool push --no-":                        "--no-clobber --no-input --no-record",
		"tool push ":                             "admin web",
		"tool push w":                            "web",
		"tool push web ":                         "admin",
		"tool pull ":                             "admin web",
		"tool publish a":                         "admin",
		"tool status ":                           "admin web",
		"tool project create x --from ":          "admin web",
		"tool project create x --visibility ":    "private public",
		"tool project rm x --from a":             "admin",
		"tool completion ":                       "bash fish powershell zsh",
		"tool help ex":                           "exit-codes",
		"tool login ":                            "",
		"tool project view @alice/":              "@alice/web",
		"tool project view @alice/web ":          "",
		"tool project rm ":                       "@alice/web",
		"tool push web --project ":               "@alice/web",
		"tool project create x --stack-version ": "latest",
		"tool project view --origin http://127.0.0.1:1 --token x @": "",
		"tool project create ": "",
	} {
		got := completed(t, w, line)
		words := strings.Join(got, " ")
		if words != want {
			t.Errorf("%q is completed by %q, want %q", line, words, want)
		}
	}
}

func TestCompletion_EveryShell(t *testing.T) {
	for shell, check := range map[string][]string{
		"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}, "powershell": nil,
	} {
		t.Run(shell, func(t *testing.T) {
			script := output(t, "tool", "completion", shell)
			if !strings.Contains(script, "tool") || len(script) < 1000 {
				t.Fatalf("no script: %s", script)
			}
			if shell == "powershell" {
				return
			}
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("needs %s to read the script: install %s", shell, shell)
			}
			c := exec.Command(path, check...)
			c.Stdin = strings.NewReader(script)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
