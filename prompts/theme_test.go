package prompts

import (
	"io"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

func TestFormTheme_KeepsTextInTerminalColour(t *testing.T) {
	t.Setenv("CLICOLOR_FORCE", "1")
	t.Setenv("TERM", "xterm-256color")
	f := formTheme(tui.NewTheme(io.Discard)).Focused
	if (f.SelectSelector.GetForeground() == lipgloss.NoColor{}) {
		t.Error("there are no colours to do without")
	}
	for name, style := range map[string]lipgloss.Style{
		"option": f.Option, "unselected option": f.UnselectedOption, "selected option": f.SelectedOption,
		"typed text": f.TextInput.Text,
	} {
		if (style.GetForeground() != lipgloss.NoColor{}) || (style.GetBackground() != lipgloss.NoColor{}) ||
			style.GetFaint() {
			t.Errorf("%s: %v on %v, faint: %t", name, style.GetForeground(), style.GetBackground(), style.GetFaint())
		}
	}
}
