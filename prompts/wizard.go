package prompts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// Answers are what a new project needs, with defaults before they are given.
type Answers struct {
	Local        string  // local project
	Project      ref.Ref // to be created
	Visibility   wire.Visibility
	StackVersion string
	API          ref.Ref // zero: client.json's, else its source is registered
	BaseFiles    bool
}

// Given are the answers that were given as flags, and so are not asked for.
type Given struct{ Local, Visibility, StackVersion, BaseFiles bool }

// Preflight is what is known of a local project and its hub before anything is created.
type Preflight struct {
	Me       *wire.Whoami
	Stack    ref.Ref
	Here     string              // version in stack.json, "" for none
	Versions []wire.StackVersion // that are published, newest first
	Latest   string
	Project  string  // client.json's, "" for none
	API      ref.Ref // client.json's, or zero
	Source   string  // of the API, where there is none
	Missing  string  // why Source cannot be registered, "" when it can
}

// published reports whether the version here is published, or was.
func (s *Preflight) published() bool {
	return slices.ContainsFunc(s.Versions, func(v wire.StackVersion) bool { return v.Version == s.Here })
}

// usable returns the versions that were not withdrawn.
func (s *Preflight) usable() (versions []string) {
	for _, v := range s.Versions {
		if v.WithdrawnAt.IsZero() {
			versions = append(versions, v.Version)
		}
	}
	return versions
}

// Wizard asks for everything that a new project needs. Its functions are called in the
// background.
type Wizard struct {
	Given    Given
	Locals   []string // local projects
	NewLocal string   // name for a local project where there is none
	Hub      string   // its origin

	Init    func(ctx context.Context, name string) error
	Check   func(ctx context.Context, local string) (*Preflight, error)
	Publish func(ctx context.Context, local string) error
	// Ask asks the hub whether it would create a project with an API, the zero ref for one
	// that is to be registered.
	Ask   func(ctx context.Context, project, api ref.Ref) (*Asked, error)
	Files func(ctx context.Context) (*Files, error)
	// Plan is called with all answers before they are reviewed. It returns lines about files
	// that are perhaps not meant to be sent, nil for none.
	Plan func(ctx context.Context, answers Answers) ([]string, error)
}

// Asked is what the hub says about a project that may be created.
type Asked struct {
	Refused string   // why it would not be created, "" if it would
	Similar []Choice // APIs that can be used instead of a new one
	Same    string   // the one of them with the same description, "" for none
}

// Files are the app's files.
type Files struct {
	Count   int
	Bytes   int64
	Problem string // why they cannot be pushed, "" if they can
}

func (f *Files) text() string {
	return tui.Count(f.Count, "file", "files") + ", " + humanize.IBytes(uint64(f.Bytes))
}

// none says why no files can be pushed, "" if they can.
func (f *Files) none() string {
	switch {
	case f.Problem != "":
		return "cannot be pushed: " + f.Problem
	case f.Count == 0:
		return "the app has none yet"
	}
	return ""
}

// Answers to where a project starts from.
const (
	goOn    = "go on"
	publish = "publish"
)

// wizard is the state of a Wizard.
type wizard struct {
	Wizard
	answers   *Answers
	preset    Answers // the answers before any was given
	hub       *Preflight
	publishes bool    // the stack, before it asks more
	inits     bool    // it creates a local project
	register  string  // registerSource, registered, or a similar API
	project   ref.Ref // that is preset, zero for none
	slug      *Asked  // about it
	api       *Asked
	files     *Files
	warnings  []string // about files that are perhaps not meant to be sent
}

// AskProject asks for the answers that were not given. It returns ErrStop when the user
// decides against the project.
func (p Prompter) AskProject(ctx context.Context, w Wizard, answers *Answers) error {
	z := &wizard{Wizard: w, answers: answers, preset: *answers, inits: len(w.Locals) == 0}
	return p.Ask(ctx,
		z.initStep(), z.makeStep(), z.localStep(), z.startStep(), z.publishStep(), z.slugStep(), z.visibilityStep(),
		z.versionStep(), z.apiStep(), z.apiRefStep(), z.countStep(), z.filesStep(), z.planStep(), z.warningsStep(),
		z.reviewStep(),
	)
}

func (z *wizard) initStep() Step {
	return Step{
		Skip: func() bool { return !z.inits },
		Question: func() Question {
			return Question{
				Title: "There is no local project here",
				Facts: []string{"A local project describes a hub project: its settings, its stack and its API."},
				Choices: []Choice{
					{goOn, fmt.Sprintf("Create one named %s, in .tool/%s", z.NewLocal, z.NewLocal)},
					stopping,
				},
				Preset: goOn,
			}
		},
		Take: func(string) {},
	}
}

func (z *wizard) makeStep() Step {
	return Step{
		Skip: func() bool { return !z.inits }, Doing: "Creating the local project",
		Load: func(ctx context.Context) error {
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
			title := "Create a hub project from " + z.answers.Local
			q := Question{Title: title, Facts: z.preflightFacts(), Frame: true}
			if len(z.hub.Versions) > 0 {
				q.Choices = []Choice{{goOn, "Continue"}}
			} else if z.hub.Here == "" {
				q.Facts = append(q.Facts, "To publish it, set a version such as 0.1.0 in stack.json.")
			}
			if z.hub.Here != "" && !z.hub.published() {
				q.Choices = append(q.Choices, Choice{publish, fmt.Sprintf("Publish %s %s now", z.hub.Stack, z.hub.Here)})
			}
			q.Choices = append(q.Choices, stopping)
			q.Preset = q.Choices[0].Value
			return q
		},
		Take: func(answer string) { z.publishes = answer == publish },
	}
}

func (z *wizard) preflightFacts() []string {
	n := z.hub
	published := n.Latest + " published"
	switch {
	case len(n.Versions) == 0:
		published = "not published yet"
	case slices.Contains(n.usable(), n.Here):
		published = n.Here + " published"
	case n.published():
		published += ", " + n.Here + " here was withdrawn"
	case n.Here != "":
		published += ", " + n.Here + " here is not"
	}
	var accounts []string
	for _, a := range n.Me.Accounts {
		if n.Me.Writes(a.Account) {
			accounts = append(accounts, "@"+a.Account)
		}
	}
	facts := []string{
		"Stack     " + n.Stack.String() + ", " + published,
		"Accounts  " + n.Me.Name() + " can write to " + cmp.Or(strings.Join(accounts, ", "), "none"),
	}
	if n.Project != "" {
		facts = append(facts, "Project   client.json names "+n.Project+" already, and keeps it")
	}
	return facts
}

func (z *wizard) publishStep() Step {
	return Step{
		Skip:  func() bool { return !z.publishes },
		Doing: "Publishing",
		Load: func(ctx context.Context) (err error) {
			if err := z.Publish(ctx, z.answers.Local); err != nil {
				return err
			}
			z.publishes = false
			z.hub, err = z.Check(ctx, z.answers.Local)
			return err
		},
	}
}
