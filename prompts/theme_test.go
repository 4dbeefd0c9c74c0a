package prompts

import (
	"io"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

func TestFormTheme_KeepsTextInTerminalColour(t *testing.T) {
	f := formTheme(tui.NewTheme(io.Discard)).Focused
	for name, style := range map[string]lipgloss.Style{
		"option": f.Option, "unselected option": f.UnselectedOption, "selected option": f.SelectedOption, "selector": f.SelectSelector,
		"title": f.Title, "typed text": f.TextInput.Text, "prompt": f.TextInput.Prompt,
	} {
		if (style.GetForeground() != lipgloss.NoColor{}) || (style.GetBackground() != lipgloss.NoColor{}) || style.GetFaint() {
			t.Errorf("%s: %v on %v, faint: %t", name, style.GetForeground(), style.GetBackground(), style.GetFaint())
		}
	}
}
