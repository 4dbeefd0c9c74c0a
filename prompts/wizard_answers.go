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

// slugStep suggests the name of the local project, or the one that was answered before.
func (z *wizard) slugStep() Step {
	return Step{
		Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			z.suggested = z.answers.Project
			if z.suggested.IsZero() {
				// Zero if the local project's name is not a slug.
				z.suggested, _ = ref.New(z.preflight.Stack.Account(), z.answers.Local)
			}
			z.onSuggested = &Asked{}
			if !z.suggested.IsZero() {
				z.onSuggested, err = z.Ask(ctx, z.suggested, ref.Ref{})
			}
			return err
		},
		Question: func() Question {
			account := z.preflight.Stack.Account()
			q := refQuestion(account, "is available", func(ctx context.Context, project ref.Ref) (*Asked, error) {
				return z.askHub(ctx, project, ref.Ref{})
			})
			q.Title, q.Prompt = "Name of the project on the hub", "Slug, or @account/slug"
			q.Facts = []string{"A slug alone is created in @" + account + ", the account of the stack."}
			switch {
			case z.onSuggested.Refused != "":
				q.Facts = append(q.Facts, z.onSuggested.Refused+".")
			case z.suggested.Account() == account:
				q.Preset = z.suggested.Slug()
			default:
				q.Preset = z.suggested.String()
			}
			return q
		},
		Take: func(answer string) { z.answers.Project, _ = parseRef(answer, z.preflight.Stack.Account()) },
	}
}

// parseRef parses @account/slug, or a slug alone in account, unless that is "".
func parseRef(typed, account string) (ref.Ref, error) {
	typed = strings.TrimSpace(typed)
	isSlug := !strings.ContainsAny(typed, "@/")
	if isSlug && account != "" {
		r, err := ref.New(account, typed)
		if err != nil {
			return r, errors.New("a slug is " + ref.Rule)
		}
		return r, nil
	}
	r, err := ref.ParseTyped(typed)
	if err != nil {
		return r, errors.New("@account/slug, each part of " + ref.Rule)
	}
	return r, nil
}

// askHub is Ask, but returns what the hub has said already about the suggested project.
func (z *wizard) askHub(ctx context.Context, project, api ref.Ref) (*Asked, error) {
	if project == z.suggested && api.IsZero() {
		return z.onSuggested, nil
	}
	return z.Ask(ctx, project, api)
}

// refQuestion is a question for a ref, typed as parseRef takes it. What ask returns is said of it: the ref and good if
// the hub would create the project, or why it would not. If the hub could not be asked, the ref is accepted: the hub
// checks it again when it creates the project.
func refQuestion(account, good string, ask func(context.Context, ref.Ref) (*Asked, error)) Question {
	return Question{
		Check: func(typed string) error { _, err := parseRef(typed, account); return err },
		Lookup: func(ctx context.Context, typed string) (string, error) {
			r, _ := parseRef(typed, account) // Check accepted it
			switch asked, err := ask(ctx, r); {
			case err != nil:
				return r.String() + " could not be checked", nil
			case asked.Refused != "":
				return "", errors.New(asked.Refused)
			}
			return r.String() + " " + good, nil
		},
	}
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
		Skip: func() bool { return z.Given.StackVersion || len(z.preflight.usable()) < 2 },
		Question: func() Question {
			choices := []Choice{{wire.Latest, "latest: follows the stack, now " + z.preflight.Latest}}
			for _, v := range z.preflight.usable() {
				choices = append(choices, Choice{v, v + ": stays at this version"})
			}
			return Question{
				Title:   "Which version of " + z.preflight.Stack.String() + "?",
				Choices: choices,
				Preset:  z.answers.StackVersion,
			}
		},
		Take: func(answer string) { z.answers.StackVersion = answer },
	}
}

// Answers to which API a project has. A third answer is a similar API, as @account/slug.
const (
	registerSource = "source"
	registered     = "registered"
)

// apiStep asks which API the project has, if client.json names none.
func (z *wizard) apiStep() Step {
	return Step{
		Skip:  func() bool { return !z.preflight.API.IsZero() },
		Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			z.onProject, err = z.askHub(ctx, z.answers.Project, ref.Ref{})
			return err
		},
		Question: func() Question {
			account := z.answers.Project.Account()
			useRegistered := Choice{registered, "Use a registered API"}
			q := Question{
				Title: "Which API?",
				Choices: append(slices.Clone(z.onProject.Similar),
					Choice{registerSource, fmt.Sprintf("Register %s in @%s", z.preflight.Source, account)},
					useRegistered,
				),
				Preset: cmp.Or(z.apiChoice, z.onProject.Same, registerSource),
			}
			if z.preflight.Missing != "" {
				q.Facts = []string{z.preflight.Missing}
				q.Choices = []Choice{useRegistered, stopChoice}
				q.Preset = registered
			}
			return q
		},
		Take: func(answer string) {
			z.apiChoice = answer
			if similar, err := ref.Parse(answer); err == nil {
				z.answers.API = similar
			}
		},
	}
}

func (z *wizard) apiRefStep() Step {
	return Step{
		Skip: func() bool { return !z.preflight.API.IsZero() || z.apiChoice != registered },
		Question: func() Question {
			q := refQuestion("", "is registered", func(ctx context.Context, api ref.Ref) (*Asked, error) {
				return z.askHub(ctx, z.answers.Project, api)
			})
			q.Title, q.Prompt, q.Preset = "Which registered API?", "@account/slug", z.answers.API.String()
			return q
		},
		Take: func(answer string) { z.answers.API, _ = parseRef(answer, "") },
	}
}

// filesStep counts the app's files, and asks whether to push them if they can be pushed.
func (z *wizard) filesStep() Step {
	return Step{
		Skip:  func() bool { return z.Given.BaseFiles },
		Doing: "Counting the app's files",
		Load: func(ctx context.Context) (err error) {
			z.files, err = z.Files(ctx)
			if err == nil && z.files.unavailable() != "" {
				z.answers.BaseFiles = false
			}
			return err
		},
		Question: func() Question {
			if z.files.unavailable() != "" {
				return Question{}
			}
			q := Question{
				Title: "Push the app's files, too?",
				Facts: []string{
					z.files.text() + ". The live preview needs them. To leave files out, list them in .toolignore.",
				},
				Choices: []Choice{
					{yes, "Push " + z.files.text()},
					{no, "Not now: push them later with tool push --base-files"},
				},
				Preset: no,
			}
			if z.answers.BaseFiles {
				q.Preset = yes
			}
			return q
		},
		Take: func(answer string) { z.answers.BaseFiles = answer == yes },
	}
}

// warningsStep makes the plan that reviewStep shows, and asks about its warnings.
func (z *wizard) warningsStep() Step {
	return Step{
		Doing: "Asking " + z.Hub,
		Load: func(ctx context.Context) (err error) {
			z.warnings, err = z.Plan(ctx, z.finalAnswers())
			return err
		},
		Question: func() Question {
			if z.warnings == nil {
				return Question{}
			}
			return Question{
				Title:   "Push these files to " + z.answers.Project.String() + "?",
				Facts:   append(slices.Clone(z.warnings), "To leave base files out, list them in .toolignore."),
				Choices: []Choice{{yes, "Push them"}, stopChoice},
				Preset:  stopChoice.Value,
			}
		},
		Take: func(string) {}, // it can only be yes
	}
}

func (z *wizard) reviewStep() Step {
	return Step{
		Question: func() Question {
			a := z.answers
			facts := []string{
				"Project  " + a.Project.String() + ", " + string(a.Visibility),
				"Stack    " + z.preflight.Stack.String() + " " + a.StackVersion,
				"API      " + z.apiText(),
				"Config   settings of .tool/" + a.Local + "/client.json",
			}
			if files := z.filesText(); files != "" {
				facts = append(facts, "Files    "+files)
			}
			return Question{
				Title:   "Create the project?",
				Facts:   facts,
				Choices: []Choice{{goOn, "Create " + a.Project.String()}, stopChoice},
				Preset:  goOn,
			}
		},
		Take: func(string) { *z.answers = z.finalAnswers() },
	}
}

// finalAnswers returns the answers, without an API that was chosen before the user went back
// and decided to register one, or to use another local project.
func (z *wizard) finalAnswers() Answers {
	answers := *z.answers
	if z.apiChoice == registerSource || !z.preflight.API.IsZero() {
		answers.API = ref.Ref{}
	}
	return answers
}

func (z *wizard) apiText() string {
	switch {
	case !z.preflight.API.IsZero():
		return z.preflight.API.String() + ", from client.json"
	case z.apiChoice == registerSource:
		return z.preflight.Source + ", to be registered"
	}
	return z.answers.API.String()
}

// filesText says which files are pushed, or why none can be. It is "" if none are wanted.
func (z *wizard) filesText() string {
	switch {
	case z.Given.BaseFiles && z.answers.BaseFiles:
		return "the app's files"
	case z.Given.BaseFiles:
		return ""
	case z.answers.BaseFiles:
		return z.files.text()
	}
	return z.files.unavailable()
}
