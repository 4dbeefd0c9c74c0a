package prompts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func (z *wizard) slugStep() Step {
	return Step{
		Question: func() Question {
			preset := z.answers.Local
			if !ref.ValidName(preset) {
				preset = ""
			}
			if p := z.answers.Project; !p.IsZero() {
				if preset = p.String(); p.Account() == z.hub.Stack.Account() {
					preset = p.Slug()
				}
			}
			return Question{
				Title: "Name of the project on the hub", Prompt: "Slug, or @account/slug", Preset: preset,
				Facts:  []string{"A slug alone is created in @" + z.hub.Stack.Account() + ", the account of the stack."},
				Check:  func(typed string) error { _, err := z.refOf(typed); return err },
				Lookup: z.lookUpSlug,
			}
		},
		Take: func(answer string) { z.answers.Project, _ = z.refOf(answer) },
	}
}

// refOf reads a slug, or a full ref.
func (z *wizard) refOf(typed string) (ref.Ref, error) {
	typed = strings.TrimSpace(typed)
	if strings.ContainsAny(typed, "@/") {
		r, err := ref.ParseTyped(typed)
		if err != nil {
			return r, errors.New("@account/slug, each part of " + ref.Rule)
		}
		return r, nil
	}
	r, err := ref.New(z.hub.Stack.Account(), typed)
	if err != nil {
		return r, errors.New("a slug is " + ref.Rule)
	}
	return r, nil
}

func (z *wizard) lookUpSlug(ctx context.Context, typed string) (string, error) {
	r, err := z.refOf(typed)
	if err != nil {
		return "", err
	}
	if !slices.Contains(z.hub.Accounts, r.Account()) {
		return "", fmt.Errorf("%s cannot write to @%s", z.hub.As, r.Account())
	}
	free, err := z.IsFree(ctx, r)
	switch {
	case err != nil:
		return r.String() + " could not be checked", nil
	case !free:
		return "", fmt.Errorf("%s already exists", r)
	}
	return r.String() + " is available", nil
}

func (z *wizard) visibilityStep() Step {
	return Step{
		Skip: func() bool { return z.Given.Visibility },
		Question: func() Question {
			return Question{
				Title: "Who can see " + z.answers.Project.String() + "?",
				Facts: []string{
					"Everybody can see the config, the base files and the page of a public project, and the names of its stack and its API.",
					"The contents of the stack and the API stay private.",
				},
				Choices: []Choice{
					{string(wire.Private), "Private: members of @" + z.answers.Project.Account()},
					{string(wire.Public), "Public: everybody"},
				},
				Preset: string(z.answers.Visibility),
			}
		},
		Take: func(answer string) { z.answers.Visibility = wire.Visibility(answer) },
	}
}

func (z *wizard) versionStep() Step {
	return Step{
		Skip: func() bool { return z.Given.StackVersion },
		Question: func() Question {
			choices := []Choice{{wire.Latest, "latest: follows the stack, now " + z.hub.Latest}}
			for _, v := range z.hub.Versions {
				if !z.hub.withdrawn(v) {
					choices = append(choices, Choice{v, v + ": stays at this version"})
				}
			}
			return Question{
				Title: "Which version of " + z.hub.Stack.String() + "?", Choices: choices, Preset: z.answers.StackVersion,
			}
		},
		Take: func(answer string) { z.answers.StackVersion = answer },
	}
}
