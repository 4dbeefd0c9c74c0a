package prompts

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// What a form takes of the terminal in addition to the question: the bar on the left; the
// title, the keys, and the empty lines around the field.
const (
	frameColumns = 2
	frameRows    = 6
	minChoices   = 3 // rows; with fewer it does not show that there are more
)

// form shows a question: its facts, a form of one field, what is known about the
// answer, and the keys.
type form struct {
	Question
	prompter Prompter
	theme    *tui.Theme
	back     bool // esc goes back
	huh      *huh.Form
	value    string

	checking bool   // what is typed
	remark   string // about what is typed
	rejected error  // why what is typed cannot be the answer
}

func newForm(q Question, p Prompter, th *tui.Theme, back bool) (*form, tea.Cmd) {
	f := &form{Question: q, prompter: p, theme: th, back: back, value: q.Preset}
	if q.Suggest {
		f.value = ""
	}
	return f, f.build()
}

// build builds the form for the size of the terminal.
func (f *form) build() tea.Cmd {
	f.huh = huh.NewForm(huh.NewGroup(f.field())).WithKeyMap(keyMap()).WithTheme(formTheme(f.theme)).
		WithShowHelp(false).WithShowErrors(false).WithWidth(max(1, f.prompter.Terminal.Columns))
	return f.huh.Init()
}

func (f *form) field() huh.Field {
	if len(f.Choices) == 0 {
		// Wrapped here: the form has rows for the lines that it is given.
		title := strings.Join(tui.Wrap(escape.Line(f.Prompt), f.prompter.Terminal.Columns-frameColumns), "\n")
		in := huh.NewInput().Title(title).Value(&f.value).Validate(f.validate)
		if f.Suggest {
			in.Placeholder(f.Preset)
		}
		if f.Secret {
			in.EchoMode(huh.EchoModePassword)
		}
		return in
	}
	options, rows := make([]huh.Option[string], len(f.Choices)), 0
	width := f.prompter.Terminal.Columns - 2*frameColumns // within bar and mark
	for i, c := range f.Choices {
		lines := tui.Wrap(c.Text, width)
		options[i] = huh.NewOption(strings.Join(lines, "\n"), c.Value)
		rows += len(lines)
	}
	s := huh.NewSelect[string]().Options(options...).Value(&f.value).Filtering(false)
	if room := max(minChoices, f.prompter.Terminal.Rows-frameRows); rows > room {
		s.Height(room) // a height that it does not need would hide what is above the preset
	}
	return s
}

// keyMap are the keys of a form, without the ones that the dialog handles itself.
func keyMap() *huh.KeyMap {
	k := huh.NewDefaultKeyMap()
	k.Quit = key.NewBinding(key.WithDisabled())
	k.Select.Filter = key.NewBinding(key.WithDisabled())
	return k
}

func (f *form) resize(t tui.Terminal) tea.Cmd {
	if f.prompter.Terminal.Columns == t.Columns && f.prompter.Terminal.Rows == t.Rows {
		return nil
	}
	f.prompter.Terminal = t
	return f.build() // what was typed or marked is in value
}

func (f *form) update(msg tea.Msg) tea.Cmd {
	m, cmd := f.huh.Update(msg)
	f.huh = m.(*huh.Form)
	return cmd
}

// answer is what a text that is typed answers.
func (f *form) answer(typed string) string {
	if f.Suggest && typed == "" {
		return f.Preset
	}
	return typed
}

func (f *form) done() bool { return f.huh.State == huh.StateCompleted }

// validate rejects an answer that is known to be wrong. A lookup that has not ended
// yet does not delay the answer.
func (f *form) validate(typed string) error {
	if f.Check != nil {
		if err := f.Check(f.answer(typed)); err != nil {
			f.rejected = err
			return err
		}
	}
	return f.rejected
}

// changed forgets the result for another text, and reports whether this one is to be
// looked up.
func (f *form) changed() bool {
	f.checking, f.remark, f.rejected = false, "", nil
	if f.Check != nil && !f.CheckLast && f.value != "" {
		f.rejected = f.Check(f.value)
	}
	if f.Lookup == nil || f.value == "" || f.rejected != nil {
		return false
	}
	f.checking = true
	return true
}

// found takes the result of a lookup.
func (f *form) found(remark string, err error) {
	f.checking, f.remark, f.rejected = false, remark, err
}

// formTheme is the theme of a form's field.
func formTheme(th *tui.Theme) *huh.Theme {
	t := huh.ThemeBase()
	plain, bold := lipgloss.NewStyle(), lipgloss.NewStyle().Bold(true)
	t.Focused.Base = t.Focused.Base.BorderForeground(th.Mark.GetForeground())
	t.Focused.Card = t.Focused.Base
	t.Focused.Title = bold
	t.Focused.Description, t.Focused.Option, t.Focused.UnselectedOption = plain, plain, plain
	t.Focused.SelectSelector = th.Mark.SetString("> ")
	t.Focused.SelectedOption = th.Accent
	t.Focused.TextInput.Prompt, t.Focused.TextInput.Text, t.Focused.TextInput.Placeholder = th.Mark, plain, plain
	t.Blurred = t.Focused
	return t
}

// String draws the question. Where there are too few rows, empty lines are left out
// first, then the frame, then facts.
func (f *form) String() string {
	columns := width(f.prompter.Terminal.Columns)
	status := statusLine(f.theme, f.prompter.Status, columns)
	title := paragraph(f.theme.Title, f.Title, columns)
	field := strings.Split(strings.TrimRight(f.huh.View(), "\n"), "\n")
	note, help := f.note(columns), hints(f.theme, columns, f.keys()...)
	room := f.prompter.Terminal.Rows - len(status) - len(title) - len(field) - len(note) - len(help) - 1
	facts := f.facts(columns, room)
	empty := func(lines []string) []string {
		if room > len(facts) && len(lines) > 0 {
			room--
			lines = append(lines, "")
		}
		return lines
	}
	above := empty(append(title, facts...))
	field = empty(append(field, note...))
	return strings.Join(slices.Concat(empty(status), above, field, help), "\n")
}

// facts returns as many lines of facts as there is room for.
func (f *form) facts(columns, room int) []string {
	lines := wrapped(f.Facts, columns)
	if f.Frame {
		lines = framed(f.theme, f.Facts, columns, room)
	}
	if len(lines) > max(0, room) {
		lines = lines[:max(0, room)]
		if len(lines) > 0 {
			lines[len(lines)-1] = "…"
		}
	}
	return lines
}

// note is the line below an input.
func (f *form) note(columns int) []string {
	switch {
	case len(f.Choices) > 0:
		return nil
	case f.rejected != nil:
		return paragraph(f.theme.Warning, "✗ "+f.rejected.Error(), columns)
	case f.checking:
		return tui.Wrap("  checking …", columns)
	case f.remark != "":
		lines := tui.Wrap(f.remark, columns-2)
		return append([]string{f.theme.Glyph(tui.Done) + " " + lines[0]}, lines[1:]...)
	}
	return []string{""} // so that the keys below stay where they are
}

func (f *form) keys() []string {
	keys := []string{"enter continue"}
	if len(f.Choices) > 0 {
		keys = []string{"↑/↓ move", "enter select"}
	}
	if f.letter(yes) != "" {
		keys = append([]string{"y/n answer"}, keys...)
	}
	if f.back {
		keys = append(keys, "esc back")
	}
	return append(keys, "ctrl-c quit")
}
