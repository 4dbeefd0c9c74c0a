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

// Answers are what a new project needs. Before they are given they are the defaults.
type Answers struct {
	Local        string  // the local project
	Project      ref.Ref // the project to create
	Visibility   wire.Visibility
	StackVersion string
	API          ref.Ref // zero: the API of client.json, or else a new one from its source
	BaseFiles    bool    // push the app's files, too
}

// Given says which answers were given as flags. They are not asked for.
type Given struct{ Local, Visibility, StackVersion, BaseFiles bool }

// Preflight is what is known of a local project and its hub before anything is created.
type Preflight struct {
	Me       *wire.Whoami
	Stack    ref.Ref
	Here     string              // the version in stack.json, "" for none
	Versions []wire.StackVersion // on the hub, newest first, with those that were withdrawn
	Latest   string              // the version that latest stands for
	Project  string              // the project that client.json names, "" for none
	API      ref.Ref             // the API that client.json names, zero for none
	Source   string              // the description from which an API is registered, if API is zero
	Missing  string              // why Source cannot be registered, "" if it can
}

// published reports whether the version in stack.json is on the hub, withdrawn or not.
func (p *Preflight) published() bool {
	return slices.ContainsFunc(p.Versions, func(v wire.StackVersion) bool { return v.Version == p.Here })
}

// usable returns the versions that were not withdrawn.
func (p *Preflight) usable() (versions []string) {
	for _, v := range p.Versions {
		if v.WithdrawnAt.IsZero() {
			versions = append(versions, v.Version)
		}
	}
	return versions
}

// Wizard asks for everything that a new project needs. Its functions are called in the
// background, and again after the user went back.
type Wizard struct {
	Given    Given
	Locals   []string // the local projects
	NewLocal string   // the name of the local project to create if there is none
	Hub      string   // the hub's origin

	// Init creates a local project.
	Init func(ctx context.Context, name string) error
	// Check finds out what a local project is created from.
	Check func(ctx context.Context, local string) (*Preflight, error)
	// Publish publishes the stack of a local project.
	Publish func(ctx context.Context, local string) error
	// Ask asks the hub whether it would create a project with an API. The zero API is one
	// that is still to be registered.
	Ask func(ctx context.Context, project, api ref.Ref) (*Asked, error)
	// Files counts the app's files.
	Files func(ctx context.Context) (*Files, error)
	// Plan is called with all answers before they are reviewed. It returns lines about files
	// that are perhaps not meant to be sent, nil for none.
	Plan func(ctx context.Context, answers Answers) ([]string, error)
}

// Asked is what the hub says about a project that may be created.
type Asked struct {
	Refused string   // why the hub would not create it, "" if it would
	Similar []Choice // APIs that can be used instead of a new one
	Same    string   // the value in Similar of the API with the same description, "" for none
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

// unavailable says why no files can be pushed, "" if they can.
func (f *Files) unavailable() string {
	switch {
	case f.Problem != "":
		return "cannot be pushed: " + f.Problem
	case f.Count == 0:
		return "the app has none yet"
	}
	return ""
}

// Answers to what to do next.
const (
	goOn    = "go on"
	publish = "publish"
)

// wizard is the state of a Wizard. Each of its steps sets what later steps ask about.
type wizard struct {
	Wizard
	answers  *Answers
	defaults Answers // the answers before any was given

	needsLocal  bool       // there is no local project, until makeStep has created one
	preflight   *Preflight // by startStep, and again by publishStep
	publishNow  bool       // by startStep: the stack is to be published, until publishStep has done so
	suggested   ref.Ref    // by slugStep: the project to create by default, zero for none
	onSuggested *Asked     // what the hub says about suggested
	onProject   *Asked     // by apiStep: what the hub says about the chosen project
	apiChoice   string     // by apiStep: registerSource, registered, or a similar API; "" before
	files       *Files     // by filesStep
	warnings    []string   // by warningsStep: about files that are perhaps not meant to be sent
}

// AskProject asks for the answers that were not given. The error is ErrStop if the user cancels.
func (t *Terminal) AskProject(ctx context.Context, w Wizard, answers *Answers) error {
	z := &wizard{
		Wizard:     w,
		answers:    answers,
		defaults:   *answers,
		needsLocal: len(w.Locals) == 0,
	}
	return t.Ask(ctx,
		z.initStep(), z.makeStep(), z.localStep(), z.startStep(), z.publishStep(), z.slugStep(), z.visibilityStep(),
		z.versionStep(), z.apiStep(), z.apiRefStep(), z.filesStep(), z.warningsStep(), z.reviewStep(),
	)
}

// initStep asks whether to create a local project if there is none.
func (z *wizard) initStep() Step {
	return Step{
		Skip: func() bool { return !z.needsLocal },
		Question: func() Question {
			return Question{
				Title: "There is no local project here",
				Facts: []string{"A local project describes a hub project: its settings, its stack and its API."},
				Choices: []Choice{
					{goOn, fmt.Sprintf("Create one named %s, in .tool/%s", z.NewLocal, z.NewLocal)},
					stopChoice,
				},
				Preset: goOn,
			}
		},
		Take: func(string) {}, // it can only be goOn
	}
}

func (z *wizard) makeStep() Step {
	return Step{
		Skip:  func() bool { return !z.needsLocal },
		Doing: "Creating the local project",
		Load: func(ctx context.Context) error {
			if err := z.Init(ctx, z.NewLocal); err != nil {
				return err
			}
			z.answers.Local = z.NewLocal
			z.needsLocal = false
			return nil
		},
	}
}

func (z *wizard) localStep() Step {
	return Step{
		Skip: func() bool { return z.Given.Local || len(z.Locals) < 2 },
		Question: func() Question {
			return Question{
				Title:   "Which local project?",
				Facts:   []string{"The hub project gets its settings, its stack and its API."},
				Choices: nameChoices(z.Locals),
				Preset:  z.answers.Local,
			}
		},
		Take: func(answer string) {
			if answer != z.answers.Local { // the other answers were about another local project
				*z.answers = z.defaults
				z.apiChoice = ""
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
			z.preflight, err = z.Check(ctx, z.answers.Local)
			return err
		},
		Question: func() Question {
			p := z.preflight
			q := Question{
				Title: "Create a hub project from " + z.answers.Local,
				Facts: p.facts(),
			}
			if len(p.Versions) > 0 {
				q.Choices = append(q.Choices, Choice{goOn, "Continue"})
			}
			if len(p.Versions) == 0 && p.Here == "" {
				q.Facts = append(q.Facts, "To publish it, set a version such as 0.1.0 in stack.json.")
			}
			if p.Here != "" && !p.published() {
				q.Choices = append(q.Choices, Choice{publish, fmt.Sprintf("Publish %s %s now", p.Stack, p.Here)})
			}
			q.Choices = append(q.Choices, stopChoice)
			q.Preset = q.Choices[0].Value
			return q
		},
		Take: func(answer string) { z.publishNow = answer == publish },
	}
}

// facts says which version of the stack is published, and where the user can create projects.
func (p *Preflight) facts() []string {
	published := p.Latest + " published"
	switch {
	case len(p.Versions) == 0:
		published = "not published yet"
	case slices.Contains(p.usable(), p.Here):
		published = p.Here + " published"
	case p.published():
		published += ", " + p.Here + " here was withdrawn"
	case p.Here != "":
		published += ", " + p.Here + " here is not"
	}
	var accounts []string
	for _, a := range p.Me.Accounts {
		if p.Me.Writes(a.Account) {
			accounts = append(accounts, "@"+a.Account)
		}
	}
	facts := []string{
		"Stack     " + p.Stack.String() + ", " + published,
		"Accounts  " + p.Me.Name() + " can write to " + cmp.Or(strings.Join(accounts, ", "), "none"),
	}
	if p.Project != "" {
		facts = append(facts, "Project   client.json names "+p.Project+" already, and keeps it")
	}
	return facts
}

// publishStep publishes the stack, if that was chosen, and looks again.
func (z *wizard) publishStep() Step {
	return Step{
		Skip:  func() bool { return !z.publishNow },
		Doing: "Publishing",
		Load: func(ctx context.Context) (err error) {
			if err := z.Publish(ctx, z.answers.Local); err != nil {
				return err
			}
			z.publishNow = false
			z.preflight, err = z.Check(ctx, z.answers.Local)
			return err
		},
	}
}
