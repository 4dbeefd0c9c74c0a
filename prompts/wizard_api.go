package prompts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/projecthub/hubclient/ref"
)

const (
	registerSource = "source"
	registered     = "registered"
)

func (z *wizard) apiStep() Step {
	return Step{
		Skip: func() bool { return !z.hub.API.IsZero() },
		Question: func() Question {
			q := Question{
				Title: "Which API?", Preset: registerSource,
				Choices: []Choice{
					{registerSource, fmt.Sprintf("Register %s in @%s", z.hub.Source, z.answers.Project.Account())},
					{registered, "Use a registered API"},
				},
			}
			if z.hub.Missing != "" {
				q.Facts, q.Choices, q.Preset = []string{z.hub.Missing}, append(q.Choices[1:], Choice{stop, "Cancel"}), registered
			}
			if z.register != "" {
				q.Preset = z.register
			}
			return q
		},
		Take: func(answer string) { z.register = answer },
	}
}

func (z *wizard) apiRefStep() Step {
	return Step{
		Skip: func() bool { return !z.hub.API.IsZero() || z.register == registerSource },
		Load: func(context.Context) error {
			if z.register == stop {
				return ErrStop
			}
			return nil
		},
		Question: func() Question {
			preset := ""
			if !z.answers.API.IsZero() {
				preset = z.answers.API.String()
			}
			return Question{
				Title: "Which registered API?", Prompt: "@account/slug", Preset: preset,
				Check: func(typed string) error {
					if _, err := ref.ParseTyped(strings.TrimSpace(typed)); err != nil {
						return errors.New("@account/slug, each part of " + ref.Rule)
					}
					return nil
				},
				Lookup: func(ctx context.Context, typed string) (string, error) {
					r, err := ref.ParseTyped(strings.TrimSpace(typed))
					if err != nil {
						return "", err
					}
					there, err := z.HasAPI(ctx, r)
					switch {
					case err != nil:
						return r.String() + " could not be checked", nil
					case !there:
						return "", fmt.Errorf("%s is not registered, or you cannot see it", r)
					}
					return r.String() + " is registered", nil
				},
			}
		},
		Take: func(answer string) { z.answers.API, _ = ref.ParseTyped(strings.TrimSpace(answer)) },
	}
}
