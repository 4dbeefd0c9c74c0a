// Package quiet keeps the program from asking the terminal for its background
// colour before main starts, which costs a round trip, swallows keys typed ahead,
// and waits for seconds on a terminal that never answers.
//
// It works because packages that are ready are initialised in the order of their
// import paths, and this one's sorts before github.com/charmbracelet/bubbletea,
// whose init asks. It must import nothing but lipgloss.
package quiet

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
