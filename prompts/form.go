package prompts

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// markColumns is the width of the mark to the left of a choice.
const markColumns = 2

// form shows a question: its facts, a field, what is known about the answer, and the keys.
type form struct {
	Question
	screen tui.Screen
	status string
	back   bool      // esc goes back
	huh    *huh.Form // made by build for each size of the terminal
	value  string    // what is typed or selected; outlives huh

	checking bool   // a lookup of value runs
	remark   string // what the lookup found, "" for nothing
	rejected error  // why value cannot be the answer, nil if it can
}

// newForm returns the form of a question. It has to be built before it is used.
func newForm(q Question, s tui.Screen, status string, back bool) *form {
	f := &form{Question: q, screen: s, status: status, back: back, value: q.Preset}
	if q.Suggest {
		f.value = ""
	}
	return f
}

// build builds the form for the size of the terminal.
func (f *form) build() tea.Cmd {
	field := f.input
	if len(f.Choices) > 0 {
		field = f.selection
	}
	keys := huh.NewDefaultKeyMap() // without those that the dialog handles
	keys.Quit = key.NewBinding(key.WithDisabled())
	keys.Select.Filter = key.NewBinding(key.WithDisabled())
	f.huh = huh.NewForm(huh.NewGroup(field())).WithKeyMap(keys).WithTheme(formTheme(f.screen.Theme)).
		WithShowHelp(false).WithShowErrors(false).WithWidth(f.screen.Width())
	return f.huh.Init()
}

func (f *form) input() huh.Field {
	// huh counts the lines of a title before it wraps them, so it gets them wrapped.
	title := strings.Join(tui.Wrap(escape.Line(f.Prompt), f.screen.Width()), "\n")
	in := huh.NewInput().Title(title).Value(&f.value).Validate(f.validate)
	if f.Suggest {
		in.Placeholder(f.Preset)
	}
	if f.Secret {
		in.EchoMode(huh.EchoModePassword)
	}
	return in
}

func (f *form) selection() huh.Field {
	options := make([]huh.Option[string], len(f.Choices))
	rows := 0
	for i, c := range f.Choices {
		lines := tui.Wrap(c.Text, f.screen.Width()-markColumns)
		options[i] = huh.NewOption(strings.Join(lines, "\n"), c.Value)
		rows += len(lines)
	}
	s := huh.NewSelect[string]().Options(options...).Value(&f.value).Filtering(false)
	const minChoices = 3 // in fewer rows nobody sees that there are more
	page := f.page()
	page.Body, page.Least = rows, minChoices
	if room, _ := f.screen.Room(page); rows > room {
		s.Height(room) // only then: with a height, huh scrolls to the preset even if all choices fit
	}
	return s
}

func (f *form) resize(s tui.Screen) tea.Cmd {
	if f.screen.Columns == s.Columns && f.screen.Rows == s.Rows {
		return nil
	}
	f.screen = s
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

// validate rejects an answer that is known to be wrong. It waits for no lookup.
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

func (f *form) found(remark string, err error) {
	f.checking = false
	f.remark = remark
	f.rejected = err
}

func formTheme(th *tui.Theme) *huh.Theme {
	t := huh.ThemeBase()
	plain := th[tui.Plain]
	t.Focused.Base = plain
	t.Focused.Card = plain
	t.Focused.Title = th[tui.Quiet]
	t.Focused.Description = plain
	t.Focused.Option = plain
	t.Focused.UnselectedOption = plain
	t.Focused.SelectSelector = th[tui.Accent].SetString("> ")
	t.Focused.SelectedOption = th[tui.Heading]
	t.Focused.TextInput.Prompt = th[tui.Accent]
	t.Focused.TextInput.Text = plain
	t.Focused.TextInput.Placeholder = th[tui.Quiet]
	t.Blurred = t.Focused
	return t
}

func (f *form) page() tui.Page {
	return tui.Page{Status: f.status, Title: f.Title, Facts: f.Facts, Keys: f.keys()}
}

// String draws the question.
func (f *form) String() string {
	field := strings.Split(strings.TrimRight(f.huh.View(), "\n"), "\n")
	body := append(field, f.note()...)
	page := f.page()
	page.Body, page.Least = len(body), len(body)
	return f.screen.Draw(page, body...)
}

// note returns the lines below an input: what is known about value.
func (f *form) note() []string {
	switch columns := f.screen.Width(); {
	case len(f.Choices) > 0:
		return nil
	case f.rejected != nil:
		return f.screen.Says(tui.Failed, f.rejected.Error(), columns)
	case f.checking:
		return f.screen.Says(tui.None, "checking …", columns)
	case f.remark != "":
		return f.screen.Says(tui.Done, f.remark, columns)
	}
	return []string{""} // keeps the keys below in their place
}

func (f *form) keys() []string {
	keys := []string{"enter continue"}
	switch {
	case f.isYesNo():
		keys = []string{"y/n answer", "enter select"}
	case len(f.Choices) > 0:
		keys = []string{"↑/↓ move", "enter select"}
	}
	switch {
	case f.back && f.isYesNo():
		return append(keys, "esc cancel")
	case f.back:
		return append(keys, "esc back")
	}
	return append(keys, "ctrl-c quit")
}
