package prompts

import (
	"cmp"
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
		Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			if z.project = z.answers.Project; z.project.IsZero() {
				z.project, _ = ref.New(z.hub.Stack.Account(), z.answers.Local) // zero for what is no slug
			}
			z.slug = &Asked{}
			if !z.project.IsZero() {
				z.slug, err = z.Ask(ctx, z.project, ref.Ref{})
			}
			return err
		},
		Question: func() Question {
			account := z.hub.Stack.Account()
			q := Question{
				Title: "Name of the project on the hub", Prompt: "Slug, or @account/slug", Preset: z.project.String(),
				Facts: []string{"A slug alone is created in @" + account + ", the account of the stack."},
				Check: func(typed string) error { _, err := parseRef(typed, account); return err },
				Lookup: func(ctx context.Context, typed string) (string, error) {
					r, _ := parseRef(typed, account)
					return z.lookUp(ctx, r, ref.Ref{}, r, " is available")
				},
			}
			switch {
			case z.project.IsZero():
				q.Preset = ""
			case z.slug.Refused != "":
				q.Preset, q.Facts = "", append(q.Facts, z.slug.Refused+".")
			case z.project.Account() == account:
				q.Preset = z.project.Slug()
			}
			return q
		},
		Take: func(answer string) { z.answers.Project, _ = parseRef(answer, z.hub.Stack.Account()) },
	}
}

// parseRef reads @account/slug, or a slug in account; "" for none.
func parseRef(typed, account string) (r ref.Ref, err error) {
	if typed = strings.TrimSpace(typed); account == "" || strings.ContainsAny(typed, "@/") {
		if r, err = ref.ParseTyped(typed); err != nil {
			err = errors.New("@account/slug, each part of " + ref.Rule)
		}
	} else if r, err = ref.New(account, typed); err != nil {
		err = errors.New("a slug is " + ref.Rule)
	}
	return r, err
}

// ask asks the hub whether it would create a project with an API. What it said about the project
// that is preset is known.
func (z *wizard) ask(ctx context.Context, project, api ref.Ref) (*Asked, error) {
	if project == z.project && api.IsZero() {
		return z.slug, nil
	}
	return z.Ask(ctx, project, api)
}

// lookUp says of what was typed that it is good, if the hub would create a project with an API;
// the error is why not.
func (z *wizard) lookUp(ctx context.Context, project, api, typed ref.Ref, good string) (string, error) {
	asked, err := z.ask(ctx, project, api)
	switch {
	case err != nil:
		return typed.String() + " could not be checked", nil
	case asked.Refused != "":
		return "", errors.New(asked.Refused)
	}
	return typed.String() + good, nil
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

// versionStep asks where there are several versions to choose from.
func (z *wizard) versionStep() Step {
	return Step{
		Skip: func() bool { return z.Given.StackVersion || len(z.hub.usable()) < 2 },
		Question: func() Question {
			choices := []Choice{{wire.Latest, "latest: follows the stack, now " + z.hub.Latest}}
			for _, v := range z.hub.usable() {
				choices = append(choices, Choice{v, v + ": stays at this version"})
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
		Skip: func() bool { return !z.hub.API.IsZero() }, Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			z.api, err = z.ask(ctx, z.answers.Project, ref.Ref{})
			return err
		},
		Question: func() Question {
			q := Question{
				Title: "Which API?", Preset: cmp.Or(z.api.Same, registerSource),
				Choices: append(slices.Clone(z.api.Similar),
					Choice{registerSource, fmt.Sprintf("Register %s in @%s", z.hub.Source, z.answers.Project.Account())},
					Choice{registered, "Use a registered API"},
				),
			}
			if z.hub.Missing != "" {
				q.Facts, q.Preset = []string{z.hub.Missing}, registered
				q.Choices = []Choice{{registered, "Use a registered API"}, stopping}
			}
			if z.register != "" {
				q.Preset = z.register
			}
			return q
		},
		Take: func(answer string) {
			z.register = answer
			if similar, err := ref.Parse(answer); err == nil {
				z.answers.API = similar
			}
		},
	}
}

func (z *wizard) apiRefStep() Step {
	return Step{
		Skip: func() bool { return !z.hub.API.IsZero() || z.register != registered },
		Question: func() Question {
			preset := ""
			if !z.answers.API.IsZero() {
				preset = z.answers.API.String()
			}
			return Question{
				Title: "Which registered API?", Prompt: "@account/slug", Preset: preset,
				Check: func(typed string) error { _, err := parseRef(typed, ""); return err },
				Lookup: func(ctx context.Context, typed string) (string, error) {
					r, _ := parseRef(typed, "")
					return z.lookUp(ctx, z.answers.Project, r, r, " is registered")
				},
			}
		},
		Take: func(answer string) { z.answers.API, _ = parseRef(answer, "") },
	}
}

func (z *wizard) countStep() Step {
	return Step{
		Skip: func() bool { return z.Given.BaseFiles }, Doing: "Counting the app's files",
		Load: func(ctx context.Context) (err error) {
			if z.files, err = z.Files(ctx); err == nil && z.files.none() != "" {
				z.answers.BaseFiles = false
			}
			return err
		},
	}
}

// filesStep asks where there are files that can be pushed.
func (z *wizard) filesStep() Step {
	return Step{
		Skip: func() bool { return z.Given.BaseFiles || z.files.none() != "" },
		Question: func() Question {
			q := Question{
				Title: "Push the app's files, too?", Preset: no,
				Facts: []string{
					z.files.text() + ". The live preview needs them. To leave files out, list them in .toolignore.",
				},
				Choices: []Choice{
					{yes, "Push " + z.files.text()},
					{no, "Not now: push them later with tool push --base-files"},
				},
			}
			if z.answers.BaseFiles {
				q.Preset = yes
			}
			return q
		},
		Take: func(answer string) { z.answers.BaseFiles = answer == yes },
	}
}

// planStep plans with the answers, so that the review is of what will happen.
func (z *wizard) planStep() Step {
	return Step{
		Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			z.warnings, err = z.Plan(ctx, z.final())
			return err
		},
	}
}

// warningsStep asks about files that are perhaps not meant to be sent.
func (z *wizard) warningsStep() Step {
	return Step{
		Skip: func() bool { return z.warnings == nil },
		Question: func() Question {
			return Question{
				Title: "Push these files to " + z.answers.Project.String() + "?", Frame: true, Preset: stopping.Value,
				Facts:   append(slices.Clone(z.warnings), "To leave base files out, list them in .toolignore."),
				Choices: []Choice{{yes, "Push them"}, stopping},
			}
		},
		Take: func(string) {},
	}
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
			if files := z.filesText(); files != "" {
				facts = append(facts, "Files    "+files)
			}
			return Question{
				Title: "Create the project?", Facts: facts, Frame: true, Preset: goOn,
				Choices: []Choice{{goOn, "Create " + p.Project.String()}, stopping},
			}
		},
		Take: func(string) { *z.answers = z.final() },
	}
}

// final returns the answers without an API that is not taken after all.
func (z *wizard) final() Answers {
	answers := *z.answers
	if z.register == registerSource || !z.hub.API.IsZero() {
		answers.API = ref.Ref{}
	}
	return answers
}

func (z *wizard) apiText() string {
	switch {
	case !z.hub.API.IsZero():
		return z.hub.API.String() + ", from client.json"
	case z.register == registerSource:
		return z.hub.Source + ", to be registered"
	}
	return z.answers.API.String()
}

// filesText says which files are pushed, or why none can be; "" if none are to be.
func (z *wizard) filesText() string {
	switch {
	case z.Given.BaseFiles && z.answers.BaseFiles:
		return "the app's files"
	case z.Given.BaseFiles:
		return ""
	case z.answers.BaseFiles:
		return z.files.text()
	}
	return z.files.none()
}
