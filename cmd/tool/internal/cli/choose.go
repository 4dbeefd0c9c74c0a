package cli

import (
	"context"
	"errors"
	"path/filepath"

	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// chooseLocal asks which of several local projects is meant.
func (a *app) chooseLocal(ctx context.Context, ws *workspace.Workspace, names []string) (string, error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", err
	}
	name := nearest(ws, names, dir)
	choices := make([]prompts.Choice, len(names))
	for i, n := range names {
		choices[i] = prompts.Choice{Value: n, Text: n}
	}
	err = a.converse(ctx, prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{Title: "Which local project?", Choices: choices, Preset: name}
		},
		Take: func(answer string) { name = answer },
	})
	return name, err
}

// converse asks in turn. An interrupted question is the end of the command.
func (a *app) converse(ctx context.Context, steps ...prompts.Step) error {
	p := a.prompter()
	a.drawing = !p.Terminal.Plain
	err := p.Ask(ctx, steps...)
	a.drawing = false
	if errors.Is(err, tui.ErrInterrupted) {
		return context.Canceled
	}
	return err
}

// confirm asks a question of yes and no; no is preset.
func (a *app) confirm(ctx context.Context, title string, facts []string, yes, no string) (bool, error) {
	answer := ""
	err := a.converse(ctx, prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{
				Title: title, Facts: facts, Preset: "no",
				Choices: []prompts.Choice{{Value: "yes", Text: yes}, {Value: "no", Text: no}},
			}
		},
		Take: func(given string) { answer = given },
	})
	return err == nil && answer == "yes", err
}

// nearest returns the local project whose app holds dir, the innermost where apps
// lie within each other; without one, the first.
func nearest(ws *workspace.Workspace, names []string, dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	found, depth := names[0], -1
	for _, name := range names {
		p, err := ws.Project(name)
		if err != nil {
			continue
		}
		client, err := p.Client()
		if err != nil {
			continue
		}
		root, err := client.AppRoot()
		if err != nil {
			continue
		}
		root = ws.Path(root)
		if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) && len(root) > depth {
			found, depth = name, len(root)
		}
	}
	return found
}
