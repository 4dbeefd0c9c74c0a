package cmdline

import (
	"runtime"
	"slices"
	"strings"
)

// Line is a command line that is printed for people to paste. The zero Line is empty.
type Line struct {
	Program   string
	Directory string   // of -C; "": the current one
	Words     []string // command and subcommand, or what else comes first
	Operands  []string // what the command is about; may start with a -
	Flags     []string // with their values
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
	if len(value) == 1 && strings.HasPrefix(value[0], "-") {
		name, value = name+"="+value[0], nil
	}
	l.Flags = slices.Concat(l.Flags, []string{name}, value)
	return l
}

// Has reports whether l has a flag.
func (l Line) Has(flag string) bool {
	return slices.ContainsFunc(l.Flags, func(f string) bool { return f == flag || strings.HasPrefix(f, flag+"=") })
}

// In returns l as it is to be typed where dir is the directory to work in. The
// programs that have no -C are returned as they are.
func (l Line) In(dir string) Line {
	if l.Program == "tool" || l.Program == "git" {
		l.Directory = dir
	}
	return l
}

// Args returns the arguments, without the program. Operands that look like flags
// come last, behind --.
func (l Line) Args() []string {
	var args []string
	if l.Directory != "" && l.Directory != "." {
		args = append(args, "-C", l.Directory)
	}
	args = append(args, l.Words...)
	if slices.ContainsFunc(l.Operands, func(o string) bool { return strings.HasPrefix(o, "-") }) {
		return slices.Concat(args, l.Flags, []string{"--"}, l.Operands)
	}
	return slices.Concat(args, l.Operands, l.Flags)
}

// String returns l as it is typed into a shell: that of POSIX, and on Windows
// PowerShell.
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

// harmless are the characters in addition to letters and digits that no shell acts on
// within a word. zsh expands =word, and fish %self.
const harmless = "/._-+@:,=%"

func isHarmless(word string) bool {
	return word != "" && word[0] != '=' && word[0] != '%' && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(harmless, r))
	})
}

// Quote returns a word as a POSIX shell and fish read it: each backslash is outside of the
// quotes, within which fish acts on it.
func Quote(word string) string {
	if isHarmless(word) {
		return word
	}
	return "'" + strings.NewReplacer("'", `'\''`, `\`, `'\\'`).Replace(word) + "'"
}

// quotePowerShell returns a word as PowerShell reads it, which takes more kinds of
// quotation marks for one, and acts on @ and on commas.
func quotePowerShell(word string) string {
	if isHarmless(word) && !strings.ContainsAny(word, "@,%") {
		return word
	}
	return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(word) + "'"
}
