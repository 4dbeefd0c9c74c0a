package golden_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// run is one command line and what came of it.
type run struct {
	args           []string // with the program
	code           int
	stdout, stderr string
}

// run runs a program of ours and checks what it printed.
func (s *script) run(ts *testscript.TestScript, args ...string) *run {
	r := &run{args: args}
	command := args
	if s.weak && os.Geteuid() == 0 {
		need(s.t, "setpriv", "apt-get install util-linux")
		command = append([]string{"setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner"}, args...)
	}
	err := ts.Exec(command[0], command[1:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	r.stdout, r.stderr = ts.ReadFile("stdout"), ts.ReadFile("stderr")
	for _, problem := range r.problems() {
		s.t.Errorf("%s: %s\n%s%s", r.line(), problem, r.stdout, r.stderr)
	}
	return r
}

// line is the command line as a user would type it.
func (r *run) line() string {
	words := make([]string, len(r.args))
	for i, arg := range r.args {
		if words[i] = arg; arg == "" || strings.ContainsAny(arg, " '\"{}*?$&|;<>()\n") {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// tool runs tool, writes the transcript, and keeps the recipe of a failure.
func (s *script) tool(ts *testscript.TestScript, neg bool, args []string) *run {
	r := s.run(ts, append([]string{"tool"}, args...)...)
	s.note(ts, r.line(), indent(r.stdout)+r.stderr, r.code)
	s.recipe = recipeOf(r)
	s.pasteAdvice(ts, r)
	if neg != (r.code != 0) {
		ts.Fatalf("%s: exit %d\n%s%s", r.line(), r.code, r.stdout, r.stderr)
	}
	return r
}

func (s *script) note(ts *testscript.TestScript, line, output string, code int) {
	fmt.Fprintf(&s.transcript, "$ %s\n%s", s.normal(ts, line), s.normal(ts, output))
	if code != 0 {
		fmt.Fprintf(&s.transcript, "exit %d\n", code)
	}
	s.transcript.WriteByte('\n')
}

// indent breaks a JSON document into lines.
func indent(text string) string {
	var b bytes.Buffer
	if !strings.HasPrefix(text, "{") || json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// both runs a command as text and with --json, and adds to the transcript what
// the JSON of a failure says beyond the text.
func (s *script) both(ts *testscript.TestScript, neg bool, args []string) {
	text := s.tool(ts, neg, args)
	recipe := s.recipe
	if text.code == 0 {
		s.tool(ts, false, append(slices.Clone(args), "--json"))
		return
	}
	r := s.run(ts, append(append([]string{"tool"}, args...), "--json")...)
	if r.code != text.code {
		ts.Fatalf("%s: exit %d, but %d without --json", r.line(), r.code, text.code)
	}
	if r.code == exitUsage {
		return
	}
	var rest map[string]any
	ts.Check(json.Unmarshal([]byte(r.stdout), &rest))
	if want := s.normal(ts, failureText(rest)); !strings.Contains(s.normal(ts, text.stderr), want) {
		ts.Fatalf("%s: the text does not say what the JSON does:\n%s\n%s", r.line(), text.stderr, want)
	}
	for _, shown := range []string{"type", "schema", "command", "reason", "stage", "hint", "recipe", "requestId",
		"errors"} {
		delete(rest, shown)
	}
	left, err := json.Marshal(rest)
	ts.Check(err)
	before := strings.TrimSuffix(s.transcript.String(), "\n")
	s.transcript.Reset()
	s.transcript.WriteString(before + "json " + s.normal(ts, string(left)) + "\n\n")
	s.recipe = recipe
}

// failureText is how text mode ends that says what a failure's JSON does.
func failureText(failed map[string]any) string {
	text := fmt.Sprintf(": %s (stage %s)\n", failed["reason"], failed["stage"])
	if failed["config"] != nil || failed["conflicts"] != nil || failed["errors"] != nil {
		return text // what they say follows
	}
	if hint, ok := failed["hint"]; ok {
		text += fmt.Sprintf("  hint: %s\n", hint)
	}
	recipe, _ := failed["recipe"].([]any)
	for _, line := range recipe {
		text += fmt.Sprintf("  try: %s\n", line)
	}
	if id, ok := failed["requestId"]; ok {
		text += strings.TrimRight(fmt.Sprintf("  request: %s", id), " ") + "\n"
	}
	return text
}

// recipeOf returns the command lines that a failure advises.
func recipeOf(r *run) []string {
	var lines []string
	for line := range strings.Lines(r.stderr) {
		if advised, ok := strings.CutPrefix(line, "  try: "); ok {
			lines = append(lines, strings.TrimSpace(advised))
		}
	}
	var failed struct{ Recipe []string }
	if json.Unmarshal([]byte(r.stdout), &failed) == nil {
		lines = append(lines, failed.Recipe...)
	}
	return lines
}

// followRecipe types the lines of the last recipe, as whoever reads it would.
func (s *script) followRecipe(ts *testscript.TestScript) {
	if len(s.recipe) == 0 {
		ts.Fatalf("the last command advised nothing")
	}
	for _, line := range s.recipe {
		words := split(line)
		if words[0] == "tool" {
			s.tool(ts, false, words[1:])
			continue
		}
		err := ts.Exec(words[0], words[1:]...)
		s.note(ts, line, "", 0)
		if err != nil {
			ts.Fatalf("%s: %v\n%s", line, err, ts.ReadFile("stderr"))
		}
	}
}

// split divides a line into words as a shell does, with single quotes.
func split(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// admin runs hub and writes the transcript.
func (s *script) admin(ts *testscript.TestScript, neg bool, args []string) {
	r := s.run(ts, append([]string{"hub"}, args...)...)
	s.note(ts, r.line(), indent(r.stdout)+r.stderr, r.code)
	if neg != (r.code != 0) {
		ts.Fatalf("%s: exit %d\n%s%s", r.line(), r.code, r.stdout, r.stderr)
	}
}

func (s *script) protect(ts *testscript.TestScript, files []string) {
	s.weak = true
	for _, name := range files {
		ts.Check(os.Chmod(ts.MkAbs(name), 0o444))
		ts.Check(os.Chmod(filepath.Dir(ts.MkAbs(name)), 0o555))
	}
}

func (s *script) unprotect(ts *testscript.TestScript, files []string) {
	s.weak = false
	for _, name := range files {
		ts.Check(os.Chmod(filepath.Dir(ts.MkAbs(name)), 0o755))
		ts.Check(os.Chmod(ts.MkAbs(name), 0o644))
	}
}
