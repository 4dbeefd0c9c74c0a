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

const (
	frameColumns = 2 // the bar to the left of a field
	frameRows    = 6 // the title, the keys, and the empty lines around a field
	minChoices   = 3 // rows of a list of choices; in fewer, nobody sees that there are more
)

// form shows a question: its facts, a form of one field, what is known about the
// answer, and the keys.
type form struct {
	Question
	prompter Prompter
	theme    *tui.Theme
	back     bool      // esc goes back
	huh      *huh.Form // made anew by build for each size of the terminal
	value    string    // what is typed or selected; outlives huh

	checking bool   // a lookup of value runs
	remark   string // what the lookup found, "" for nothing
	rejected error  // why value cannot be the answer, nil if it can
}

// newForm returns the form of a question. It has to be built before it is used.
func newForm(q Question, p Prompter, th *tui.Theme, back bool) *form {
	f := &form{Question: q, prompter: p, theme: th, back: back, value: q.Preset}
	if q.Suggest {
		f.value = ""
	}
	return f
}

// build builds the form for the size of the terminal.
func (f *form) build() tea.Cmd {
	f.huh = huh.NewForm(huh.NewGroup(f.field())).WithKeyMap(keyMap()).WithTheme(formTheme(f.theme)).
		WithShowHelp(false).WithShowErrors(false).WithWidth(max(1, f.prompter.Terminal.Columns))
	return f.huh.Init()
}

func (f *form) field() huh.Field {
	if len(f.Choices) > 0 {
		return f.selection()
	}
	return f.input()
}

// input is the field of a question whose answer is typed.
func (f *form) input() huh.Field {
	// huh counts the lines of a title before it wraps them, so it gets them wrapped.
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

// selection is the field of a question with choices.
func (f *form) selection() huh.Field {
	width := f.prompter.Terminal.Columns - 2*frameColumns // right of the bar and the mark
	options := make([]huh.Option[string], len(f.Choices))
	rows := 0
	for i, c := range f.Choices {
		lines := tui.Wrap(c.Text, width)
		options[i] = huh.NewOption(strings.Join(lines, "\n"), c.Value)
		rows += len(lines)
	}
	s := huh.NewSelect[string]().Options(options...).Value(&f.value).Filtering(false)
	room := max(minChoices, f.prompter.Terminal.Rows-frameRows)
	if rows > room {
		s.Height(room) // only then: with a height, huh scrolls to the preset even if all choices fit
	}
	return s
}

// keyMap returns the keys of a form, without those that the dialog handles.
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
	return f.build()
}

func (f *form) update(msg tea.Msg) tea.Cmd {
	m, cmd := f.huh.Update(msg)
	f.huh = m.(*huh.Form)
	return cmd
}

// answer returns the answer that a typed text gives.
func (f *form) answer(typed string) string {
	if f.Suggest && typed == "" {
		return f.Preset
	}
	return typed
}

// answered reports whether value was given as the answer.
func (f *form) answered() bool { return f.huh.State == huh.StateCompleted }

// validate rejects an answer that is known to be wrong. A lookup that still runs does not
// delay the answer.
func (f *form) validate(typed string) error {
	if f.Check != nil {
		if err := f.Check(f.answer(typed)); err != nil {
			f.rejected = err
			return err
		}
	}
	return f.rejected
}

// changed checks a new value, and reports whether it is to be looked up.
func (f *form) changed() bool {
	f.found("", nil)
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
	f.checking = false
	f.remark = remark
	f.rejected = err
}

// formTheme is the theme of a form's field.
func formTheme(th *tui.Theme) *huh.Theme {
	t := huh.ThemeBase()
	plain, bold := lipgloss.NewStyle(), lipgloss.NewStyle().Bold(true)
	t.Focused.Base = t.Focused.Base.BorderForeground(th.Mark.GetForeground())
	t.Focused.Card = t.Focused.Base
	t.Focused.Title = bold
	t.Focused.Description = plain
	t.Focused.Option = plain
	t.Focused.UnselectedOption = plain
	t.Focused.SelectSelector = th.Mark.SetString("> ")
	t.Focused.SelectedOption = th.Accent
	t.Focused.TextInput.Prompt = th.Mark
	t.Focused.TextInput.Text = plain
	t.Focused.TextInput.Placeholder = plain
	t.Blurred = t.Focused
	return t
}

// String draws the question. If there are too few rows, it leaves out empty lines first, then
// the frame, then facts.
func (f *form) String() string {
	columns := width(f.prompter.Terminal.Columns)
	status := statusLine(f.theme, f.prompter.Status, columns)
	title := paragraph(f.theme.Title, f.Title, columns)
	field := strings.Split(strings.TrimRight(f.huh.View(), "\n"), "\n")
	note := f.note(columns)
	help := hints(f.theme, columns, f.keys()...)
	spare := f.prompter.Terminal.Rows - len(status) - len(title) - len(field) - len(note) - len(help) - 1
	facts := f.facts(columns, spare)
	spare -= len(facts)
	addEmpty := func(lines []string) []string {
		if spare <= 0 || len(lines) == 0 {
			return lines
		}
		spare--
		return append(lines, "")
	}
	// The rows that are left are given away in this order.
	question := addEmpty(append(title, facts...))
	field = addEmpty(append(field, note...))
	status = addEmpty(status)
	return strings.Join(slices.Concat(status, question, field, help), "\n")
}

// facts returns the facts in at most so many rows. If some are left out, the last line says so.
func (f *form) facts(columns, rows int) []string {
	rows = max(0, rows)
	lines := wrapped(f.Facts, columns)
	if f.Frame {
		lines = framed(f.theme, f.Facts, columns, rows)
	}
	if len(lines) <= rows {
		return lines
	}
	lines = lines[:rows]
	if rows > 0 {
		lines[rows-1] = "…"
	}
	return lines
}

// note returns the lines below an input: what is known about value.
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
	return []string{""} // keeps the keys below in their place
}

// keys names the keys that do something.
func (f *form) keys() []string {
	keys := []string{"enter continue"}
	if len(f.Choices) > 0 {
		keys = []string{"↑/↓ move", "enter select"}
	}
	if f.isYesNo() {
		keys = append([]string{"y/n answer"}, keys...)
	}
	if f.back {
		keys = append(keys, "esc back")
	}
	return append(keys, "ctrl-c quit")
}
