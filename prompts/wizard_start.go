package prompts

import (
	"context"
	"fmt"
	"strings"
)

func (z *wizard) initStep() Step {
	return Step{
		Skip: func() bool { return !z.inits },
		Question: func() Question {
			return Question{
				Title: "There is no local project here",
				Facts: []string{"A local project describes a hub project: its settings, its stack and its API."},
				Choices: []Choice{
					{goOn, fmt.Sprintf("Create one named %s, in .tool/%s", z.NewLocal, z.NewLocal)},
					{stop, "Cancel"},
				},
				Preset: goOn,
			}
		},
		Take: func(answer string) { z.start = answer },
	}
}

func (z *wizard) makeStep() Step {
	return Step{
		Skip: func() bool { return !z.inits }, Doing: "Creating the local project",
		Load: func(ctx context.Context) error {
			if z.start == stop {
				return ErrStop
			}
			if err := z.Init(ctx, z.NewLocal); err != nil {
				return err
			}
			z.answers.Local, z.inits = z.NewLocal, false
			return nil
		},
	}
}

func (z *wizard) localStep() Step {
	return Step{
		Skip: func() bool { return z.Given.Local || len(z.Locals) < 2 },
		Question: func() Question {
			choices := make([]Choice, len(z.Locals))
			for i, name := range z.Locals {
				choices[i] = Choice{name, name}
			}
			return Question{
				Title: "Which local project?", Choices: choices, Preset: z.answers.Local,
				Facts: []string{"The hub project gets its settings, its stack and its API."},
			}
		},
		Take: func(answer string) {
			if answer != z.answers.Local {
				*z.answers, z.register = z.preset, "" // what was answered was about another one
			}
			z.answers.Local = answer
		},
	}
}

// startStep shows what the project is created from, and what is missing.
func (z *wizard) startStep() Step {
	return Step{
		Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			z.hub, err = z.Check(ctx, z.answers.Local)
			return err
		},
		Question: func() Question {
			q := Question{Title: "Create a hub project from " + z.answers.Local, Facts: z.preflightFacts(), Frame: true, Preset: goOn}
			first := Choice{publish, fmt.Sprintf("Publish %s %s now", z.hub.Stack, z.hub.Here)}
			switch {
			case len(z.hub.Versions) == 0 && z.hub.Here != "":
				q.Choices, q.Preset = []Choice{first}, publish
			case len(z.hub.Versions) > 0:
				q.Choices = []Choice{{goOn, "Continue"}}
				if z.hub.Here != "" && !z.hub.published() {
					q.Choices = append(q.Choices, first)
				}
			default:
				q.Preset = stop
				q.Facts = append(q.Facts, "To publish it, set a version such as 0.1.0 in stack.json.")
			}
			q.Choices = append(q.Choices, Choice{stop, "Cancel"})
			return q
		},
		Take: func(answer string) { z.start = answer },
	}
}

func (z *wizard) preflightFacts() []string {
	n := z.hub
	published := "not published yet"
	switch {
	case n.withdrawn(n.Here):
		published = fmt.Sprintf("%s published, %s here was withdrawn", n.Latest, n.Here)
	case len(n.Versions) > 0 && n.published():
		published = fmt.Sprintf("%s published", n.Here)
	case len(n.Versions) > 0:
		published = fmt.Sprintf("%s published", n.Latest)
		if n.Here != "" {
			published = fmt.Sprintf("%s published, %s here is not", n.Latest, n.Here)
		}
	}
	accounts := "none"
	if len(n.Accounts) > 0 {
		accounts = "@" + strings.Join(n.Accounts, ", @")
	}
	return []string{
		"Stack     " + n.Stack.String() + ", " + published,
		"Accounts  " + n.As + " can write to " + accounts,
	}
}

func (z *wizard) publishStep() Step {
	return Step{
		Skip:  func() bool { return z.start == goOn },
		Doing: "Publishing",
		Load: func(ctx context.Context) (err error) {
			if z.start == stop {
				return ErrStop
			}
			if err := z.Publish(ctx, z.answers.Local); err != nil {
				return err
			}
			z.start = goOn
			z.hub, err = z.Check(ctx, z.answers.Local)
			return err
		},
	}
}
