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
				Facts: []string{"A local project says what a hub project is made from: settings, a stack, an API."},
				Choices: []Choice{
					{goOn, fmt.Sprintf("Make one called %s, in .tool/%s", z.NewLocal, z.NewLocal)},
					{stop, "Stop here"},
				},
				Preset: goOn,
			}
		},
		Take: func(answer string) { z.start = answer },
	}
}

func (z *wizard) makeStep() Step {
	return Step{
		Skip: func() bool { return !z.inits }, Doing: "Making the local project",
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
				Facts: []string{"The hub project is made from its settings, its stack and its API."},
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

// startStep shows where the project would come to be, and what is in the way.
func (z *wizard) startStep() Step {
	return Step{
		Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			z.hub, err = z.Check(ctx, z.answers.Local)
			return err
		},
		Question: func() Question {
			q := Question{Title: "Create a hub project from " + z.answers.Local, Facts: z.preflightFacts(), Preset: goOn}
			first := Choice{publish, fmt.Sprintf("Publish %s %s now", z.hub.Stack, z.hub.Here)}
			switch {
			case len(z.hub.Versions) == 0 && z.hub.Here != "":
				q.Choices, q.Preset = []Choice{first}, publish
			case len(z.hub.Versions) > 0:
				q.Choices = []Choice{{goOn, "Go on"}}
				if z.hub.Here != "" && !z.hub.published() {
					q.Choices = append(q.Choices, first)
				}
			default:
				q.Preset = stop
				q.Facts = append(q.Facts, "Write a version such as 0.1.0 into stack.json to publish it.")
			}
			q.Choices = append(q.Choices, Choice{stop, "Stop here"})
			return q
		},
		Take: func(answer string) { z.start = answer },
	}
}

func (z *wizard) preflightFacts() []string {
	n := z.hub
	published := "not published yet"
	switch {
	case len(n.Versions) > 0 && n.published():
		published = fmt.Sprintf("%s here and published", n.Here)
	case len(n.Versions) > 0:
		published = fmt.Sprintf("%s published", n.Latest)
		if n.Here != "" {
			published = fmt.Sprintf("%s here is not published, %s is", n.Here, n.Latest)
		}
	}
	accounts := "none"
	if len(n.Accounts) > 0 {
		accounts = "@" + strings.Join(n.Accounts, ", @")
	}
	return []string{
		"Hub        " + n.Origin,
		"As         " + n.As + ", who may write to " + accounts,
		"Stack      " + n.Stack.String() + ", " + published,
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
