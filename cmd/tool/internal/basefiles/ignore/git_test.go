package ignore_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
)

var (
	pairs = flag.Int("pairs", 5000, "random pairs of rules and path that are held against git")
	seed  = flag.Uint64("seed", 1, "of the random pairs")
)

// set is a list of rules with the paths to ask it about.
type set struct {
	rules string
	paths map[string]bool // path → whether it is a directory
}

// gitVerdict is what git check-ignore says of one path.
type gitVerdict struct {
	line    int // 0: no rule
	pattern string
}

// askGit puts every set into a directory of its own, each with its .gitignore,
// so that one process answers for all. Nothing but directories is created: to
// git a path that does not exist is no directory.
func askGit(t *testing.T, sets []set) []map[string]gitVerdict {
	t.Helper()
	needGit(t)
	root := t.TempDir()
	var stdin bytes.Buffer
	for i, s := range sets {
		dir := filepath.Join(root, strconv.Itoa(i))
		must(t, os.Mkdir(dir, 0o777))
		must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(s.rules), 0o666))
		for path, isDir := range s.paths {
			if isDir {
				must(t, os.MkdirAll(filepath.Join(dir, path), 0o777))
			}
			fmt.Fprintf(&stdin, "%d/%s\x00", i, path)
		}
	}
	git(t, root, nil, "init", "-q")
	fields := strings.Split(git(t, root, &stdin, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"), "\x00")
	answers := make([]map[string]gitVerdict, len(sets))
	for i := range answers {
		answers[i] = map[string]gitVerdict{}
	}
	for f := range slices.Chunk(fields[:len(fields)-1], 4) {
		dir, path, _ := strings.Cut(f[3], "/")
		i, err := strconv.Atoi(dir)
		must(t, err)
		line, _ := strconv.Atoi(f[1])
		answers[i][path] = gitVerdict{line, f[2]}
	}
	return answers
}

func git(t *testing.T, dir string, stdin *bytes.Buffer, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir,
		"XDG_CONFIG_HOME="+dir)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	// check-ignore exits with 1 when it found nothing.
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || stderr.Len() > 0) {
		t.Fatalf("git %v: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err == nil {
		return
	}
	const message = "git is not installed: apt-get install git"
	if os.Getenv("TEST_REQUIRE_ALL") == "1" {
		t.Fatal(message)
	}
	t.Skip(message)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// compare reports every path on which git decides by another rule than ours.
func compare(t *testing.T, sets []set) (asked, out int) {
	t.Helper()
	wrong := 0
	for i, answers := range askGit(t, sets) {
		rules := ignore.Compile([]byte(sets[i].rules), ".gitignore")
		if len(answers) != len(sets[i].paths) {
			t.Fatalf("git answered for %d of %d paths", len(answers), len(sets[i].paths))
		}
		dirs := directories(sets[i].paths)
		for path, want := range answers {
			var got gitVerdict
			if rule := verdict(rules, path, dirs[path]); rule != nil {
				got = gitVerdict{rule.Line, rule.Pattern}
			}
			asked++
			if want.line > 0 && !strings.HasPrefix(want.pattern, "!") {
				out++
			}
			if got == want {
				continue
			}
			if wrong++; wrong <= 20 {
				t.Errorf("rules %q, path %q (directory: %v): line %d %q, git: line %d %q",
					sets[i].rules, path, dirs[path], got.line, got.pattern, want.line, want.pattern)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d verdicts differ from git's", wrong, asked)
	}
	return asked, out
}

// directories lists what exists when every directory of paths does.
func directories(paths map[string]bool) map[string]bool {
	dirs := map[string]bool{}
	for path, isDir := range paths {
		for ; isDir && path != "."; path = filepath.Dir(path) {
			dirs[path] = true
		}
	}
	return dirs
}

func TestMatch_AgreesWithGit(t *testing.T) {
	var sets []set
	for _, c := range cases {
		for _, path := range slices.Concat(c.out, c.kept) {
			path, isDir := strings.CutSuffix(path, "/")
			sets = append(sets, set{c.rules, map[string]bool{path: isDir}})
		}
	}
	compare(t, sets)
}

func TestMatch_AgreesWithGitOnCharacterClasses(t *testing.T) {
	var sets []set
	for _, class := range []string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
		"space", "upper", "xdigit"} {
		s := set{"x[[:" + class + ":]]y\nz[![:" + class + ":]]y", map[string]bool{}}
		for c := range 0x100 {
			if c != 0 && c != '/' {
				s.paths["x"+string([]byte{byte(c)})+"y"] = false
				s.paths["z"+string([]byte{byte(c)})+"y"] = false
			}
		}
		sets = append(sets, s)
	}
	compare(t, sets)
}

// Two stars after literal text, where a pattern starts: see parseGlob. A git
// that took them for one star would be no measure for such rules.
var afterLiteral = regexp.MustCompile(`(?m)^!?[^*?\[\\\n]*[^*?\[\\\n/]\*\*`)

func TestMatch_DoubleStarAfterLiteral(t *testing.T) {
	s := set{"x/a**/b\nc**/d", map[string]bool{"x/ab": false, "x/a/b": false, "x/ay/z/b": false, "c/e/d": false,
		"e/cd": false}}
	rules := ignore.Compile([]byte(s.rules), "test")
	for path := range s.paths {
		if got, want := leftOut(rules, path), path != "e/cd"; got != want {
			t.Errorf("leaves %q out: %v, want %v", path, got, want)
		}
	}
	if gitLeadsAnywhere(t) {
		compare(t, []set{s})
	}
}

func gitLeadsAnywhere(t *testing.T) bool {
	t.Helper()
	return askGit(t, []set{{"x/a**/b", map[string]bool{"x/ab": false}}})[0]["x/ab"].line == 1
}

func TestMatch_AgreesWithGitOnRandomPairs(t *testing.T) {
	const paths = 20
	r := rand.New(rand.NewPCG(*seed, 2))
	all := gitLeadsAnywhere(t)
	var sets []set
	for len(sets) < (*pairs+paths-1)/paths {
		s := set{randomRules(r), map[string]bool{}}
		for len(s.paths) < paths {
			s.paths[pick(r, randomPath, likelyPath)(r, s.rules)] = r.IntN(3) == 0
		}
		for path := range directories(s.paths) {
			if _, drawn := s.paths[path]; drawn {
				s.paths[path] = true // it was drawn as a file
			}
		}
		if all || !afterLiteral.MatchString(s.rules) {
			sets = append(sets, s)
		}
	}
	asked, out := compare(t, sets)
	t.Logf("%d pairs, %d of them left out by a rule", asked, out)
}

var atoms = []string{
	"a", "b", "c", "ab", ".a", "a.log", "A", "é", "-", "]", "^", "!", "#", " ",
	"*", "*", "*", "?", "**", "**", "***", "/", "/", "/", "/**", "**/", "/**/", "*/", "/*",
	"[ab]", "[!a]", "[^b-c]", "[]-a]", "[a-]", "[a-c-e]", `[\]a]`, `[a-\c]`, "[--a]", "[!]]", "[/a]", "[[a]", "[*]",
	"[[:alpha:]]", "[![:alpha:]x]", "[[:lower:][:digit:]-]", "[[:]", "[[:a]", "[[::]]", "[[:foo:]]", "[", "[a",
	"[[:alpha:",
	`\a`, `\*`, `\\`, `\ `, `\[`, `\/`, `\!`, `\#`, `\`, "\t", "\r",
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func randomRules(r *rand.Rand) string {
	end := pick(r, "\n", "\n", "\r\n")
	var b strings.Builder
	b.WriteString(pick(r, "", "", "", "", "\ufeff"))
	for range 1 + r.IntN(5) {
		b.WriteString(pick(r, "", "", "", "", "", "!", "!", "/", "**/", "#", `\!`, `\#`, " "))
		for range 1 + r.IntN(5) {
			b.WriteString(pick(r, atoms...))
		}
		b.WriteString(pick(r, "", "", "", "", "/", "/", " ", "  ", `\ `, `\  `, "/ ", "//", "\x00b"))
		b.WriteString(end)
	}
	return strings.TrimSuffix(b.String(), pick(r, "", end))
}

func randomPath(r *rand.Rand, _ string) string {
	elements := make([]string, 1+r.IntN(4))
	for i := range elements {
		elements[i] = pick(r, "", "", "", "a", "b", ".", "A", "-", " ", "*", "[", "]", "#", "!", `\`) +
			pick(r, "a", "b", "c", "ab", "abc", ".a", "a.log", "é", "-", "]", "^", "!a", "#a", "a ", "1", "\t", "a\r", `a\`,
				":")
	}
	return possible(strings.Join(elements, "/"))
}

// likelyPath fills the wildcards of one of the rules.
func likelyPath(r *rand.Rand, rules string) string {
	rule := pick(r, strings.Split(strings.Trim(rules, "\n"), "\n")...)
	var b strings.Builder
	for i := 0; i < len(rule); i++ {
		switch rule[i] {
		case '*':
			b.WriteString(pick(r, "", "a", "b", "ab", "/", "a/b", "/a/", "*"))
		case '?':
			b.WriteString(pick(r, "a", "b", "/", "?"))
		case '[':
			b.WriteString(pick(r, "a", "b", "-", "]", "["))
			i += max(0, strings.IndexByte(rule[i:], ']'))
		case '\\', '!', '\r', 0:
		default:
			b.WriteByte(rule[i])
		}
	}
	return possible(b.String() + pick(r, "", "", "/a", "/ab/b"))
}

// possible makes a path that a file can have, and git leaves as it is, out of path.
func possible(path string) string {
	path = strings.Trim(filepath.Clean("/"+path), "/")
	if path == "" || strings.Contains("/"+path+"/", "/.git/") {
		return "a"
	}
	return path
}
