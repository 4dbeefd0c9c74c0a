package prompts

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// What a form takes of the terminal besides the question: the bar on the left; the
// title, the keys, and the empty lines around the field.
const (
	frameColumns = 2
	frameRows    = 5
	minChoices   = 3 // rows; with fewer nobody sees that there are more
)

// form shows a question: its facts, a form of one field, what is known about the
// answer, and the keys.
type form struct {
	Question
	terminal tui.Terminal
	theme    *tui.Theme
	back     bool // esc goes back
	huh      *huh.Form
	value    string

	remark   string // about what is typed
	rejected error  // why what is typed cannot be the answer
}

func newForm(q Question, t tui.Terminal, th *tui.Theme, back bool) (*form, tea.Cmd) {
	f := &form{Question: q, terminal: t, theme: th, back: back, value: q.Preset}
	return f, f.build()
}

// build builds the form for the size of the terminal.
func (f *form) build() tea.Cmd {
	f.huh = huh.NewForm(huh.NewGroup(f.field())).WithKeyMap(keys()).WithTheme(formTheme()).
		WithShowHelp(false).WithShowErrors(false).WithWidth(max(1, f.terminal.Columns))
	return f.huh.Init()
}

func (f *form) field() huh.Field {
	if len(f.Choices) == 0 {
		in := huh.NewInput().Title(escape.Line(f.Prompt)).Value(&f.value).Validate(f.validate)
		if f.Secret {
			in.EchoMode(huh.EchoModePassword)
		}
		return in
	}
	options, rows := make([]huh.Option[string], len(f.Choices)), 0
	width := f.terminal.Columns - 2*frameColumns // within bar and mark
	for i, c := range f.Choices {
		lines := tui.Wrap(c.Text, width)
		options[i] = huh.NewOption(strings.Join(lines, "\n"), c.Value)
		rows += len(lines)
	}
	s := huh.NewSelect[string]().Options(options...).Value(&f.value).Filtering(false)
	if room := max(minChoices, f.terminal.Rows-frameRows); rows > room {
		s.Height(room) // a height that it does not need would hide what is above the preset
	}
	return s
}

// keys are those of a form, without the ones that the dialog handles itself.
func keys() *huh.KeyMap {
	k := huh.NewDefaultKeyMap()
	k.Quit = key.NewBinding(key.WithDisabled())
	k.Select.Filter = key.NewBinding(key.WithDisabled())
	return k
}

func (f *form) resize(t tui.Terminal) tea.Cmd {
	if f.terminal.Columns == t.Columns && f.terminal.Rows == t.Rows {
		return nil
	}
	f.terminal = t
	return f.build() // what was typed or marked is in value
}

func (f *form) update(msg tea.Msg) tea.Cmd {
	m, cmd := f.huh.Update(msg)
	f.huh = m.(*huh.Form)
	return cmd
}

func (f *form) done() bool { return f.huh.State == huh.StateCompleted }

// validate rejects an answer that is known to be wrong. A lookup that has not ended
// yet does not delay the answer.
func (f *form) validate(typed string) error {
	if f.Check != nil {
		if err := f.Check(typed); err != nil {
			f.rejected = err
			return err
		}
	}
	return f.rejected
}

// changed forgets the result for another text, and reports whether this one is to be
// looked up.
func (f *form) changed() bool {
	f.remark, f.rejected = "", nil
	if f.Check != nil && !f.CheckLast && f.value != "" {
		f.rejected = f.Check(f.value)
	}
	if f.Lookup == nil || f.value == "" || f.rejected != nil {
		return false
	}
	f.remark = "checking …"
	return true
}

// found takes the result of a lookup.
func (f *form) found(remark string, err error) { f.remark, f.rejected = remark, err }

var (
	titleStyle    = lipgloss.NewStyle().Bold(true)
	rejectedStyle = lipgloss.NewStyle().Bold(true)
	helpStyle     = lipgloss.NewStyle()
)

// formTheme keeps all text of a form in the terminal's own colour: none of the 16
// others can be read on a dark and on a light background. The bar beside the form,
// which says nothing, is the one thing in colour.
func formTheme() *huh.Theme {
	t := huh.ThemeBase()
	plain, bold := lipgloss.NewStyle(), lipgloss.NewStyle().Bold(true)
	t.Focused.Base = t.Focused.Base.BorderForeground(lipgloss.Color("6"))
	t.Focused.Card = t.Focused.Base
	t.Focused.Title = bold
	t.Focused.Description, t.Focused.Option, t.Focused.UnselectedOption = plain, plain, plain
	t.Focused.SelectSelector = bold.SetString("> ")
	t.Focused.SelectedOption = bold
	t.Focused.TextInput.Prompt, t.Focused.TextInput.Text, t.Focused.TextInput.Placeholder = bold, plain, plain
	t.Blurred = t.Focused
	return t
}

// String draws the question. Where there are too few rows, facts are left out first.
func (f *form) String() string {
	t := f.terminal
	title := styled(titleStyle, f.wrap(f.Title))
	form := strings.Split(strings.TrimRight(f.huh.View(), "\n"), "\n")
	note, help := f.note(), styled(helpStyle, f.wrap(f.help()))
	room := t.Rows - len(title) - len(form) - len(note) - len(help) - 1
	facts := f.facts(room)
	lines := append(title, facts...)
	gap := room > len(facts)
	if gap {
		lines = append(lines, "")
	}
	lines = append(append(lines, form...), note...)
	if room > len(facts)+1 && gap {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, help...), "\n")
}

// facts returns as many lines of facts as there is room for.
func (f *form) facts(room int) []string {
	var lines []string
	for _, fact := range f.Facts {
		lines = append(lines, f.wrap(fact)...)
	}
	if len(lines) > max(0, room) {
		lines = lines[:max(0, room)]
		if len(lines) > 0 {
			lines[len(lines)-1] = "…"
		}
	}
	return lines
}

// note is the line below the field.
func (f *form) note() []string {
	switch {
	case len(f.Choices) > 0:
		return nil
	case f.rejected != nil:
		return styled(rejectedStyle, f.wrap("! "+f.rejected.Error()))
	case f.remark != "":
		return f.wrap("  " + f.remark)
	}
	return []string{""} // so that the keys below stay where they are
}

func (f *form) help() string {
	var parts []string
	if len(f.Choices) > 0 {
		parts = append(parts, "↑↓ choose")
	}
	parts = append(parts, "enter go on")
	if f.back {
		parts = append(parts, "esc back")
	}
	return strings.Join(append(parts, "ctrl-c end"), " · ")
}

// wrap returns text in lines as wide as a form. huh would break it at more places
// than spaces.
func (f *form) wrap(text string) []string {
	return tui.Wrap(text, f.terminal.Columns-frameColumns)
}

func styled(s lipgloss.Style, lines []string) []string {
	for i, line := range lines {
		lines[i] = s.Render(line)
	}
	return lines
}
