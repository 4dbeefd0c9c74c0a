package prompts

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui/escape"
)

// What a screen takes of the terminal beside the question: the bar on the left; the
// title, the keys, and the empty lines around the field.
const (
	frameColumns = 2
	frameRows    = 5
	minChoices   = 3 // rows; with less one does not see that there are more
)

// view shows one screen on a terminal: its facts, a form of one field, what is
// found about the answer, and the keys.
type view struct {
	Screen
	terminal Terminal
	back     bool // esc leads somewhere
	form     *huh.Form
	value    string

	say    string // about what is typed
	refuse error  // what is typed
}

func newView(s Screen, t Terminal, back bool) (*view, tea.Cmd) {
	v := &view{Screen: s, terminal: t, back: back, value: s.Preset}
	return v, v.build()
}

// build makes the form anew, for the size of the terminal.
func (v *view) build() tea.Cmd {
	v.form = huh.NewForm(huh.NewGroup(v.field())).WithKeyMap(keys()).WithTheme(formTheme()).
		WithShowHelp(false).WithShowErrors(false).WithWidth(max(1, v.terminal.Columns))
	return v.form.Init()
}

func (v *view) field() huh.Field {
	if len(v.Choices) == 0 {
		in := huh.NewInput().Title(escape.Line(v.Prompt)).Value(&v.value).Validate(v.validate)
		if v.Secret {
			in.EchoMode(huh.EchoModePassword)
		}
		return in
	}
	options, rows := make([]huh.Option[string], len(v.Choices)), 0
	inner := Terminal{Columns: v.terminal.Columns - frameColumns} // within bar and mark
	for i, c := range v.Choices {
		lines := inner.wrap(c.Text)
		options[i] = huh.NewOption(strings.Join(lines, "\n"), c.Value)
		rows += len(lines)
	}
	s := huh.NewSelect[string]().Options(options...).Value(&v.value).Filtering(false)
	if room := max(minChoices, v.terminal.Rows-frameRows); rows > room {
		s.Height(room) // a height that it does not need would hide what is above the preset
	}
	return s
}

// keys are those of a form, without the ones that a conversation has for itself.
func keys() *huh.KeyMap {
	k := huh.NewDefaultKeyMap()
	k.Quit = key.NewBinding(key.WithDisabled())
	k.Select.Filter = key.NewBinding(key.WithDisabled())
	return k
}

func (v *view) resize(t Terminal) tea.Cmd {
	if v.terminal.Columns == t.Columns && v.terminal.Rows == t.Rows {
		return nil
	}
	v.terminal = t
	return v.build() // what was typed or marked is in value
}

func (v *view) update(msg tea.Msg) tea.Cmd {
	m, cmd := v.form.Update(msg)
	v.form = m.(*huh.Form)
	return cmd
}

func (v *view) done() bool { return v.form.State == huh.StateCompleted }

// validate refuses to go on with what is known to be wrong. What is not known yet
// does not hold anybody up.
func (v *view) validate(typed string) error {
	if v.Check != nil {
		if err := v.Check(typed); err != nil {
			v.refuse = err
			return err
		}
	}
	return v.refuse
}

// changed forgets what was found about another text, and reports whether there is
// something to find out about this one.
func (v *view) changed() bool {
	v.say, v.refuse = "", nil
	if v.Check != nil && !v.Late && v.value != "" {
		v.refuse = v.Check(v.value)
	}
	if v.Look == nil || v.value == "" || v.refuse != nil {
		return false
	}
	v.say = "asking …"
	return true
}

// found takes in what a look has found.
func (v *view) found(say string, err error) { v.say, v.refuse = say, err }

var (
	titleStyle  = lipgloss.NewStyle().Bold(true)
	refuseStyle = lipgloss.NewStyle().Bold(true)
	helpStyle   = lipgloss.NewStyle()
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

// String draws the screen. Where the terminal is low the facts give way, and the
// question stays.
func (v *view) String() string {
	t := v.terminal
	title := styled(titleStyle, t.wrap(v.Title))
	form := strings.Split(strings.TrimRight(v.form.View(), "\n"), "\n")
	note, help := v.note(), styled(helpStyle, t.wrap(v.help()))
	room := t.Rows - len(title) - len(form) - len(note) - len(help) - 1
	facts := t.facts(v.Facts, room)
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

// facts returns the lines of facts as far as there is room for them.
func (t Terminal) facts(facts []string, room int) []string {
	var lines []string
	for _, fact := range facts {
		lines = append(lines, t.wrap(fact)...)
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
func (v *view) note() []string {
	switch {
	case len(v.Choices) > 0:
		return nil
	case v.refuse != nil:
		return styled(refuseStyle, v.terminal.wrap("! "+v.refuse.Error()))
	case v.say != "":
		return v.terminal.wrap("  " + v.say)
	}
	return []string{""} // so that the keys below stay where they are
}

func (v *view) help() string {
	var parts []string
	if len(v.Choices) > 0 {
		parts = append(parts, "↑↓ choose")
	}
	parts = append(parts, "enter go on")
	if v.back {
		parts = append(parts, "esc back")
	}
	return strings.Join(append(parts, "ctrl-c end"), " · ")
}

func styled(s lipgloss.Style, lines []string) []string {
	for i, line := range lines {
		lines[i] = s.Render(line)
	}
	return lines
}
