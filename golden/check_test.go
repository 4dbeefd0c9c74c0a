package golden_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Exit codes with a meaning of their own.
const (
	exitUsage   = 2
	exitDiffers = 3
)

// stages are those that a failure may name; codes, what went wrong.
var (
	stages = strings.Fields(`read stack destination api create seed push pull publish rm write
		login logout init status list view update edit rename check completion version diff log show restore
		token revoke invite rate-limit preview`)
	codes = strings.Fields(`unauthorized token_expired token_revoked not_permitted missing_scope not_found renamed
		project_exists last_admin stack_not_published api_not_found api_in_use version_exists version_not_newer
		revision_changed
		precondition_required invalid_json invalid_body invalid_description too_large unsupported_media_type
		rate_limited idempotency_mismatch address_refused unknown_route method_not_allowed
		set_exists plan_outdated bot_mismatch unavailable storage_full damaged internal
		no_token not_logged_in token_malformed insecure_origin unreachable timeout redirected not_a_hub not_recorded no_config
		no_settings no_base_files would_undo_edits conflict interrupted invalid_file invalid_name no_destination
		no_workspace no_local_project outside_workspace token_in_file nothing_kept
		files_differ files_unconfirmed check_failed some_failed revision_not_kept`)
)

// problems returns what is wrong with the form of what a command printed. It
// holds for every command line, whatever it is about.
func (r *run) problems() []string {
	c := &check{run: r, json: slices.Contains(r.args, "--json")}
	c.streams()
	switch {
	case r.args[0] == "hub":
		c.hub()
	case r.code == exitUsage:
		c.usage()
	case c.json:
		c.document()
	case r.code == 0 || r.code == exitDiffers:
		c.success()
	default:
		c.failure()
	}
	return c.found
}

// check looks at one run.
type check struct {
	*run
	json  bool
	found []string
}

func (c *check) want(ok bool, format string, args ...any) {
	if !ok {
		c.found = append(c.found, fmt.Sprintf(format, args...))
	}
}

var longToken = regexp.MustCompile(`hubpat_[0-9A-Za-z]{6}`)

// streams holds for every run: nothing that a terminal acts on, and of a token
// no more than its start.
func (c *check) streams() {
	c.want(slices.Contains([]int{0, 1, exitUsage, exitDiffers, 129, 130, 143}, c.code), "exit code %d", c.code)
	for name, text := range map[string]string{"stdout": c.stdout, "stderr": c.stderr} {
		c.want(utf8.ValidString(text), "%s is not UTF-8", name)
		c.want(!strings.ContainsFunc(text, acted), "%s holds a control character: %q", name, text)
		c.want(text == "" || strings.HasSuffix(text, "\n"), "%s ends within a line", name)
		for line := range strings.Lines(text) {
			c.want(strings.TrimRight(line, " \t\n") == strings.TrimSuffix(line, "\n"), "%s: a line ends in white space: %q",
				name, line)
		}
	}
	if c.args[0] == "tool" && !c.createsToken() {
		c.want(!longToken.MatchString(c.stdout+c.stderr), "it prints more of a token than its start")
	}
}

// createsToken reports whether the command prints the token that it creates.
func (c *check) createsToken() bool {
	words := c.words()
	ofBot := len(words) > 2 && words[0] == "bot" && words[1] == "token" && strings.HasPrefix(words[2], "@")
	return c.code == 0 && (ofBot || len(words) > 1 && words[0] == "token" && words[1] == "create")
}

// acted reports whether a terminal would act on r.
func acted(r rune) bool {
	bidi := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	return r != '\n' && r != '\t' && unicode.IsControl(r) || bidi
}

// usage is how a command line is refused that makes no sense.
func (c *check) usage() {
	c.want(c.stdout == "", "stdout is not empty on a usage error")
	c.want(strings.HasPrefix(c.stderr, "error: "), "no error: line")
	c.want(regexp.MustCompile(`\n  help: tool.* --help\n$`).MatchString(c.stderr), "no help: line at the end")
	c.lines()
}

// success prints its result on stdout, and on stderr at most what is no failure.
func (c *check) success() {
	c.want(!hasLine(c.stderr, "error: "), "a success prints an error: line")
	c.want(!hasLine(c.stdout, "error: ") && !hasLine(c.stdout, "warning: "), "stdout holds what belongs on stderr")
}

var failureLine = regexp.MustCompile(`(?m)^error: .*[^.] \(stage ([a-z-]+)\)$`)

// failure prints all that it says on stderr.
func (c *check) failure() {
	several := strings.Contains(c.stderr, " local projects failed: ") // each prints its own
	c.want(c.stdout == "" || several, "stdout is not empty on a failure")
	lines := failureLine.FindAllStringSubmatch(c.stderr, -1)
	c.want(len(lines) == 1 || several, "not exactly one line: error: …: reason (stage …)")
	c.want(strings.Count("\n"+c.stderr, "\nerror: ") == len(lines), "an error: line without a stage")
	for _, line := range lines {
		c.want(slices.Contains(stages, line[1]), "there is no stage %s", line[1])
	}
	c.lines()
}

var diagnosticLine = regexp.MustCompile(
	`^(error: |warning: |  (edit|hint|try|help|request): |  [+~!-] |  … and |  \S+\.\w+(:\d+:\d+)?: |(GET|PUT|POST|DELETE) /|(hashing|uploading) )`)

// lines checks stderr line by line. A status that fails has first what is known without
// the hub.
func (c *check) lines() {
	text := c.stderr
	if slices.Contains(c.args, "status") && hasLine(text, "Hub ") {
		text = text[strings.Index(text, "error: "):]
	}
	for line := range strings.Lines(text) {
		c.want(diagnosticLine.MatchString(line), "a line on stderr is of no known kind: %q", line)
		if advised, ok := strings.CutPrefix(strings.TrimSpace(line), "try: "); ok {
			c.recipe(advised)
		}
		if hint, ok := strings.CutPrefix(strings.TrimSpace(line), "hint: "); ok {
			c.want(!strings.HasSuffix(hint, "."), "a hint ends in a full stop: %s", hint)
		}
	}
}

// head is what every result in JSON has, and what a failure has besides.
type head struct {
	Type, Command, Stage, Code, Reason, Hint string
	Schema                                   int
	ProjectName                              *string
	Recipe                                   []string
}

// document is one JSON document on stdout, the result, and nothing of it on stderr.
func (c *check) document() {
	var h head
	decoder := json.NewDecoder(strings.NewReader(c.stdout))
	if err := decoder.Decode(&h); err != nil {
		c.want(false, "stdout is no JSON document: %v", err)
		return
	}
	c.want(strings.Count(c.stdout, "\n") == 1 && !decoder.More(), "stdout is not one document on one line")
	c.want(h.Schema == 1, "schema is %d", h.Schema)
	c.want(h.Command != "" && strings.HasPrefix(strings.Join(c.words(), " ")+" ", h.Command+" "), "command is %q",
		h.Command)
	c.want((h.Type == "failed") == (c.code != 0 && c.code != exitDiffers), "type %q with exit code %d", h.Type, c.code)
	c.want(!hasLine(c.stderr, "error: "), "the failure stands on stderr too")
	if h.Type != "failed" {
		c.want(h.Type != "", "no type")
		return
	}
	c.want(h.ProjectName != nil, "a failure without projectName")
	c.want(slices.Contains(stages, h.Stage), "there is no stage %q", h.Stage)
	c.want(slices.Contains(codes, h.Code), "there is no code %q", h.Code)
	c.want(h.Reason != "" && !strings.HasSuffix(h.Reason, ".") &&
		!strings.Contains(h.Reason, "\n"), "the reason is no phrase: %q", h.Reason)
	c.want(!strings.HasSuffix(h.Hint, "."), "the hint ends in a full stop: %q", h.Hint)
	for _, line := range h.Recipe {
		c.recipe(line)
	}
}

// words are the arguments that are no flags, to which a command's name belongs.
func (c *check) words() []string {
	var words []string
	skip := false
	for _, arg := range c.args[1:] {
		switch {
		case skip:
			skip = false
		case arg == "-C" || arg == "--timeout" || arg == "--origin" || arg == "--token":
			skip = true
		case !strings.HasPrefix(arg, "-"):
			words = append(words, arg)
		}
	}
	return words
}

// understood remembers the recipes that were found to be command lines.
var understood sync.Map

// recipe checks that a line that is advised is one that the program understands:
// typed where there is no workspace and no token, it is no usage error.
func (c *check) recipe(line string) {
	if _, ok := understood.Load(line); ok {
		return
	}
	words := split(line)
	if i := slices.IndexFunc(words, func(w string) bool { return w == "<" || w == ">" }); i > 0 {
		words = words[:i]
	}
	switch words[0] {
	case "tool":
		if words[1] == "login" && !slices.Contains(words, "--with-token") { // in a pipeline it needs a token besides
			words = append(words, "--token", "x")
		}
		out, code := nowhere(words)
		c.want(code != exitUsage, "it advises what it does not understand: %s\n%s", line, out)
	case "git":
	default:
		c.want(false, "a recipe runs neither tool nor git: %s", line)
	}
	understood.Store(line, true)
}

// nowhere runs a command where there is no workspace, no token and no hub.
func nowhere(words []string) (output string, code int) {
	dir, err := os.MkdirTemp("", "golden-nowhere-")
	if err != nil {
		return err.Error(), exitUsage
	}
	defer os.RemoveAll(dir)
	if words[0] == "tool" {
		words = append(words, "--timeout", "1ms")
	}
	command := exec.Command(program(words[0]), words[1:]...)
	command.Dir, command.Env = dir, []string{"HOME=" + dir, "TOOL_CONFIG_DIR=" + dir}
	out, _ := command.CombinedOutput()
	return string(out), command.ProcessState.ExitCode()
}

// hub holds for the commands of hub.
func (c *check) hub() {
	switch {
	case c.code == exitUsage:
		c.want(c.stdout == "" && strings.HasPrefix(c.stderr, "error: "), "no error: line on stderr alone")
	case c.json:
		var h struct {
			Type   string
			Schema int
		}
		err := json.Unmarshal([]byte(c.stdout), &h)
		c.want(err == nil && strings.Count(c.stdout, "\n") == 1, "stdout is not one JSON document on one line")
		c.want(h.Schema == 1 && (h.Type == "failed") == (c.code != 0 && c.code != exitDiffers), "type %q, schema %d", h.Type,
			h.Schema)
	case c.code != 0:
		c.want(c.stdout == "" && strings.HasPrefix(c.stderr, "error: "), "no error: line on stderr alone")
	}
}

func hasLine(text, prefix string) bool { return strings.Contains("\n"+text, "\n"+prefix) }
