package cmdline

import (
	"runtime"
	"slices"
	"strings"
)

// Line is a command line that is printed for people to paste. The zero Line is empty.
type Line struct {
	Program   string
	Directory string   // the value of -C; "": the current directory, without -C
	Words     []string // the command and its subcommands
	Operands  []string // what the command acts on; may start with a -
	Flags     []string // flags and their values
}

// Tool returns a command line of tool that runs a command, such as: project, create.
func Tool(command ...string) Line { return Line{Program: "tool", Words: command} }

// Hub returns a command line of hub.
func Hub(command ...string) Line { return Line{Program: "hub", Words: command} }

// Git returns a command line of git.
func Git(command ...string) Line { return Line{Program: "git", Words: command} }

// With returns l with more operands.
func (l Line) With(operands ...string) Line {
	l.Operands = slices.Concat(l.Operands, operands)
	return l
}

// Flag returns l with a flag, given as --name, and its value if it takes one.
func (l Line) Flag(name string, value ...string) Line {
	words := append([]string{name}, value...)
	if len(value) == 1 && strings.HasPrefix(value[0], "-") {
		words = []string{name + "=" + value[0]} // as a word of its own it would be read as a flag
	}
	l.Flags = slices.Concat(l.Flags, words)
	return l
}

// Has reports whether l has a flag.
func (l Line) Has(flag string) bool {
	return slices.ContainsFunc(l.Flags, func(f string) bool { return f == flag || strings.HasPrefix(f, flag+"=") })
}

// In returns l with -C dir, for tool and git. Other programs have no -C: their lines are
// returned unchanged.
func (l Line) In(dir string) Line {
	if l.Program == "tool" || l.Program == "git" {
		l.Directory = dir
	}
	return l
}

// Args returns the arguments, without the program. If an operand looks like a flag, all
// operands come last, after --.
func (l Line) Args() []string {
	var args []string
	if l.Directory != "" && l.Directory != "." {
		args = append(args, "-C", l.Directory)
	}
	args = append(args, l.Words...)
	looksLikeFlag := func(operand string) bool { return strings.HasPrefix(operand, "-") }
	if slices.ContainsFunc(l.Operands, looksLikeFlag) {
		return slices.Concat(args, l.Flags, []string{"--"}, l.Operands)
	}
	return slices.Concat(args, l.Operands, l.Flags)
}

// String returns l as it is typed into a shell: into PowerShell on Windows, else into a
// POSIX shell.
func (l Line) String() string {
	quote := Quote
	if runtime.GOOS == "windows" {
		quote = quotePowerShell
	}
	words := []string{l.Program}
	for _, arg := range l.Args() {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// harmless are the characters that no shell acts on within a word.
const harmless = "abcdefghijklmnopqrstuvwxyz" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "0123456789" + "/._-+@:,=%"

// isHarmless reports whether a word needs no quotes. At its beginning, zsh expands =word and
// fish %self.
func isHarmless(word string) bool {
	if word == "" || word[0] == '=' || word[0] == '%' {
		return false
	}
	return strings.Trim(word, harmless) == ""
}

// Quote quotes a word for a POSIX shell and for fish. Backslashes are written outside of the
// quotes, because fish acts on a backslash within them.
func Quote(word string) string {
	if isHarmless(word) {
		return word
	}
	return "'" + strings.NewReplacer("'", `'\''`, `\`, `'\\'`).Replace(word) + "'"
}

// quotePowerShell quotes a word for PowerShell, which ends a quoted word at typographic
// quotation marks, too, and acts on @, commas and % within a word.
func quotePowerShell(word string) string {
	if isHarmless(word) && !strings.ContainsAny(word, "@,%") {
		return word
	}
	return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(word) + "'"
}
