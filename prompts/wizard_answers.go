package prompts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
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
					"Everybody can see the config, the base files and the page of a public project, " +
						"and the names of its stack and its API.",
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
				Title:   "Which version of " + z.hub.Stack.String() + "?",
				Choices: choices, Preset: z.answers.StackVersion,
			}
		},
		Take: func(answer string) { z.answers.StackVersion = answer },
	}
}

// Answers to which API a project has.
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
				q.Facts, q.Choices, q.Preset = []string{z.hub.Missing}, append(q.Choices[1:], stopping), registered
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

func (z *wizard) filesStep() Step {
	return Step{
		Skip: func() bool { return z.Given.BaseFiles }, Doing: "Counting the app's files",
		Load: func(ctx context.Context) (err error) {
			z.files, z.bytes, err = z.CountFiles(ctx, z.answers.Local)
			return err
		},
		Question: func() Question {
			q := Question{
				Title: "Push the app's files, too?", Preset: no,
				Facts: []string{
					z.filesText() + ". The live preview needs them. To leave files out, list them in .toolignore.",
				},
				Choices: []Choice{
					{yes, "Push " + z.filesText()},
					{no, "Not now: push them later with tool push --base-files"},
				},
			}
			if z.answers.BaseFiles {
				q.Preset = yes
			}
			if z.files == 0 {
				q.Facts, q.Choices = []string{"The app has no files yet."}, q.Choices[1:]
			}
			return q
		},
		Take: func(answer string) { z.answers.BaseFiles = answer == yes },
	}
}

func (z *wizard) filesText() string {
	return tui.Count(z.files, "file", "files") + ", " + humanize.IBytes(uint64(z.bytes))
}

// reviewStep says what will happen, where and as whom.
func (z *wizard) reviewStep() Step {
	return Step{
		Question: func() Question {
			p := z.answers
			facts := []string{
				"Project  " + p.Project.String() + ", " + string(p.Visibility),
				"Stack    " + z.hub.Stack.String() + " " + p.StackVersion,
				"API      " + z.apiText(),
				"Config   settings of .tool/" + p.Local + "/client.json",
			}
			if p.BaseFiles {
				facts = append(facts, "Files    "+z.sentText())
			}
			return Question{
				Title: "Create the project?", Facts: facts, Frame: true, Preset: goOn,
				Choices: []Choice{{goOn, "Create " + p.Project.String()}, stopping},
			}
		},
		Take: func(string) {
			if z.register != registered || !z.hub.API.IsZero() {
				z.answers.API = ref.Ref{}
			}
		},
	}
}

func (z *wizard) apiText() string {
	switch {
	case !z.hub.API.IsZero():
		return z.hub.API.String() + ", from client.json"
	case z.register == registered:
		return z.answers.API.String()
	}
	return z.hub.Source + ", to be registered"
}

func (z *wizard) sentText() string {
	if z.Given.BaseFiles {
		return "the app's files"
	}
	return z.filesText()
}
