package cli

import (
	"time"

	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/flow/create"
	"example.com/projecthub/tui"
)

// How often a long transfer is mentioned where nothing moves: in a pipeline, and on
// a plain terminal, where somebody waits.
const (
	pipelineInterval = 30 * time.Second
	plainInterval    = 10 * time.Second
)

// progress lets a flow report to whoever watches: a redrawn line on a terminal, a
// plain line now and then elsewhere, nobody with --json. The function that it
// returns takes the line away, at the end and before a question.
func (a *app) progress(report *flow.Report) (hide func()) {
	var view interface {
		Update(tui.Progress)
		Hide()
	}
	switch t := a.watched(); {
	case a.json:
		return func() {}
	case a.strict() || !a.ErrTTY:
		view = tui.NewLines(pipelineInterval, a.mention)
	case t.Plain:
		view = tui.NewLines(plainInterval, a.mention)
	default:
		view = tui.NewTransfer(t.Out, t.Columns)
	}
	*report = func(p flow.Progress) { view.Update(shown(p)) }
	return view.Hide
}

// watched returns the terminal on which a person watches what goes on: results
// alone go to stdout.
func (a *app) watched() tui.Terminal {
	t := a.terminal()
	t.Out = a.Err
	return t
}

func (a *app) mention(line string) { a.diagnose("%s", line) }

// createSteps are the steps of a create as people read them.
var createSteps = []struct {
	step create.Step
	name string
}{
	{create.StepStack, "check beforehand"},
	{create.StepAPI, "settle the API"},
	{create.StepProject, "create the project"},
	{create.StepSeed, "seed its content"},
	{create.StepRecord, "record it"},
}

// checklist shows the steps of a create to a person. The function that it returns
// ends the list; why a step failed is reported elsewhere.
func (a *app) checklist(o *create.Options) (end func(error)) {
	hide := a.progress(&o.Files.Report)
	if a.strict() || !a.ErrTTY {
		return func(error) { hide() }
	}
	var names []string
	steps := map[create.Step]int{}
	for i, s := range createSteps {
		names, steps[s.step] = append(names, s.name), i
	}
	t := a.watched()
	list := tui.NewChecklist(t, names...)
	o.Step = func(s create.Step) { list.Start(steps[s]) }
	var warnings []string
	a.drawing = !t.Plain
	if !t.Plain {
		o.Files.Report = func(p flow.Progress) { list.Update(shown(p)) }
		o.Warn = func(text string) { warnings = append(warnings, text) } // lines of its own would tear the list
	}
	return func(err error) {
		hide()
		list.End(problem(err))
		a.drawing = false
		for _, text := range warnings {
			a.warn(text)
		}
	}
}

// problem is a word for an error, "" for none.
func problem(err error) string {
	switch {
	case err == nil:
		return ""
	case flow.IsInterrupted(err):
		return "interrupted"
	}
	return "failed"
}

func shown(p flow.Progress) tui.Progress {
	return tui.Progress{
		Phase: string(p.Phase), Files: p.Files, TotalFiles: p.TotalFiles, Bytes: p.Bytes, TotalBytes: p.TotalBytes,
	}
}
