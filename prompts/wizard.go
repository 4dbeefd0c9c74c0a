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
)

// NewProject is what the wizard asks about: the answers, preset where they are
// known before.
type NewProject struct {
	Local        string  // local project
	Project      ref.Ref // to be created
	Visibility   wire.Visibility
	StackVersion string
	API          ref.Ref // zero: client.json's, else its source is registered
	BaseFiles    bool
}

// Given says which answers were given already, and so are not asked for.
type Given struct{ Local, Visibility, StackVersion, BaseFiles bool }

// Situation is what is known of a local project and its hub before anything is made.
type Situation struct {
	Origin   string
	As       string   // whom the token belongs to
	Accounts []string // that may be written to
	Stack    ref.Ref
	Here     string   // version in stack.json, "" for none
	Versions []string // that are published, newest first
	Latest   string
	API      ref.Ref // client.json's, or zero
	Source   string  // of the API, where there is none
	Missing  string  // why Source cannot be registered, "" when it can
}

func (s *Situation) published() bool { return slices.Contains(s.Versions, s.Here) }

// Wizard asks for all that a new project needs. Its funcs are asked outside of
// the drawing, and may take their time.
type Wizard struct {
	Given  Given
	Locals []string // local projects
	Fresh  string   // name for a local project where there is none
	Hub    string   // that is asked

	Init    func(ctx context.Context, name string) error
	Look    func(ctx context.Context, local string) (*Situation, error)
	Publish func(ctx context.Context, local string) error
	Free    func(ctx context.Context, r ref.Ref) (bool, error)
	HasAPI  func(ctx context.Context, r ref.Ref) (bool, error)
	Count   func(ctx context.Context, local string) (files int, bytes int64, err error)
}

// What can be answered to where a project starts from.
const (
	goOn    = "go on"
	publish = "publish"
	stop    = "stop"
)

// wizard is a Wizard on its way.
type wizard struct {
	Wizard
	answers  *NewProject
	preset   NewProject // the answers before any was given
	now      *Situation
	start    string // what the first screens decided
	makes    bool   // a local project
	register string
	files    int
	bytes    int64
}

// CreateProject asks for what p does not say yet. It returns ErrStop when the
// person decided against it.
func (t Terminal) CreateProject(ctx context.Context, w Wizard, p *NewProject) error {
	z := &wizard{Wizard: w, answers: p, preset: *p, start: goOn, makes: len(w.Locals) == 0}
	return t.Converse(ctx, []Step{
		z.initStep(), z.makeStep(), z.localStep(), z.startStep(), z.publishStep(), z.slugStep(), z.visibilityStep(),
		z.versionStep(), z.apiStep(), z.apiRefStep(), z.filesStep(), z.reviewStep(), z.endStep(),
	})
}

func (z *wizard) initStep() Step {
	return Step{
		Skip: func() bool { return !z.makes },
		Screen: func() Screen {
			return Screen{
				Title: "There is no local project here",
				Facts: []string{"A local project says what a hub project is made from: settings, a stack, an API."},
				Choices: []Choice{
					{goOn, fmt.Sprintf("Make one called %s, in .tool/%s", z.Fresh, z.Fresh)},
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
		Skip: func() bool { return !z.makes }, Doing: "Making the local project",
		Load: func(ctx context.Context) error {
			if z.start == stop {
				return ErrStop
			}
			if err := z.Init(ctx, z.Fresh); err != nil {
				return err
			}
			z.answers.Local, z.makes = z.Fresh, false
			return nil
		},
	}
}

func (z *wizard) localStep() Step {
	return Step{
		Skip: func() bool { return z.Given.Local || len(z.Locals) < 2 },
		Screen: func() Screen {
			choices := make([]Choice, len(z.Locals))
			for i, name := range z.Locals {
				choices[i] = Choice{name, name}
			}
			return Screen{
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
			z.now, err = z.Look(ctx, z.answers.Local)
			return err
		},
		Screen: func() Screen {
			s := Screen{Title: "Create a hub project from " + z.answers.Local, Facts: z.situation(), Preset: goOn}
			first := Choice{publish, fmt.Sprintf("Publish %s %s now", z.now.Stack, z.now.Here)}
			switch {
			case len(z.now.Versions) == 0 && z.now.Here != "":
				s.Choices, s.Preset = []Choice{first}, publish
			case len(z.now.Versions) > 0:
				s.Choices = []Choice{{goOn, "Go on"}}
				if z.now.Here != "" && !z.now.published() {
					s.Choices = append(s.Choices, first)
				}
			default:
				s.Preset = stop
				s.Facts = append(s.Facts, "Write a version such as 0.1.0 into stack.json to publish it.")
			}
			s.Choices = append(s.Choices, Choice{stop, "Stop here"})
			return s
		},
		Take: func(answer string) { z.start = answer },
	}
}

func (z *wizard) situation() []string {
	n := z.now
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
			z.now, err = z.Look(ctx, z.answers.Local)
			return err
		},
	}
}

func (z *wizard) slugStep() Step {
	return Step{
		Screen: func() Screen {
			preset := z.answers.Local
			if !ref.ValidName(preset) {
				preset = ""
			}
			if p := z.answers.Project; !p.IsZero() {
				if preset = p.String(); p.Account() == z.now.Stack.Account() {
					preset = p.Slug()
				}
			}
			return Screen{
				Title: "What is it called on the hub?", Prompt: "Slug, or @account/slug", Preset: preset,
				Facts: []string{"A slug alone goes to @" + z.now.Stack.Account() + ", the stack's account."},
				Check: func(typed string) error { _, err := z.refOf(typed); return err },
				Look:  z.lookAtSlug,
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
	r, err := ref.New(z.now.Stack.Account(), typed)
	if err != nil {
		return r, errors.New("a slug is " + ref.Rule)
	}
	return r, nil
}

func (z *wizard) lookAtSlug(ctx context.Context, typed string) (string, error) {
	r, err := z.refOf(typed)
	if err != nil {
		return "", err
	}
	if !slices.Contains(z.now.Accounts, r.Account()) {
		return "", fmt.Errorf("%s may not write to @%s", z.now.As, r.Account())
	}
	free, err := z.Free(ctx, r)
	switch {
	case err != nil:
		return r.String() + ", and whether it is free cannot be told now", nil
	case !free:
		return "", fmt.Errorf("%s exists already", r)
	}
	return r.String() + " is free", nil
}

func (z *wizard) visibilityStep() Step {
	return Step{
		Skip: func() bool { return z.Given.Visibility },
		Screen: func() Screen {
			return Screen{
				Title: "Who may see " + z.answers.Project.String() + "?",
				Facts: []string{
					"Public shows everybody its config, its base files, its page, and the names of its stack and API.",
					"Their contents stay with those who may read them.",
				},
				Choices: []Choice{
					{string(wire.Private), "private: who has a role in @" + z.answers.Project.Account()},
					{string(wire.Public), "public: everybody"},
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
		Screen: func() Screen {
			choices := []Choice{{wire.Latest, "latest: follows the stack, now " + z.now.Latest}}
			for _, v := range z.now.Versions {
				choices = append(choices, Choice{v, v + ": stays there"})
			}
			return Screen{
				Title: "Which version of " + z.now.Stack.String() + "?", Choices: choices, Preset: z.answers.StackVersion,
			}
		},
		Take: func(answer string) { z.answers.StackVersion = answer },
	}
}

const (
	registerSource = "source"
	registered     = "registered"
)

func (z *wizard) apiStep() Step {
	return Step{
		Skip: func() bool { return !z.now.API.IsZero() },
		Screen: func() Screen {
			s := Screen{
				Title: "Which API?", Preset: registerSource,
				Choices: []Choice{
					{registerSource, fmt.Sprintf("Register %s in @%s", z.now.Source, z.answers.Project.Account())},
					{registered, "Take one that is registered"},
				},
			}
			if z.now.Missing != "" {
				s.Facts, s.Choices, s.Preset = []string{z.now.Missing}, append(s.Choices[1:], Choice{stop, "Stop here"}), registered
			}
			if z.register != "" {
				s.Preset = z.register
			}
			return s
		},
		Take: func(answer string) { z.register = answer },
	}
}

func (z *wizard) apiRefStep() Step {
	return Step{
		Skip: func() bool { return !z.now.API.IsZero() || z.register == registerSource },
		Load: func(context.Context) error {
			if z.register == stop {
				return ErrStop
			}
			return nil
		},
		Screen: func() Screen {
			preset := ""
			if !z.answers.API.IsZero() {
				preset = z.answers.API.String()
			}
			return Screen{
				Title: "Which registered API?", Prompt: "@account/slug", Preset: preset,
				Check: func(typed string) error {
					if _, err := ref.ParseTyped(strings.TrimSpace(typed)); err != nil {
						return errors.New("@account/slug, each part of " + ref.Rule)
					}
					return nil
				},
				Look: func(ctx context.Context, typed string) (string, error) {
					r, err := ref.ParseTyped(strings.TrimSpace(typed))
					if err != nil {
						return "", err
					}
					there, err := z.HasAPI(ctx, r)
					switch {
					case err != nil:
						return "whether it is registered cannot be told now", nil
					case !there:
						return "", fmt.Errorf("%s is not registered, or not for you", r)
					}
					return "registered", nil
				},
			}
		},
		Take: func(answer string) { z.answers.API, _ = ref.ParseTyped(strings.TrimSpace(answer)) },
	}
}

const (
	yes = "yes"
	no  = "no"
)

func (z *wizard) filesStep() Step {
	return Step{
		Skip: func() bool { return z.Given.BaseFiles }, Doing: "Counting the app's files",
		Load: func(ctx context.Context) (err error) {
			z.files, z.bytes, err = z.Count(ctx, z.answers.Local)
			return err
		},
		Screen: func() Screen {
			s := Screen{
				Title: "Push the app's files too?", Preset: no,
				Facts: []string{z.filesText() + ". The live preview needs them. .toolignore leaves files out."},
				Choices: []Choice{
					{yes, "Push " + z.filesText()},
					{no, "Not now: tool push --base-files can do it later"},
				},
			}
			if z.answers.BaseFiles {
				s.Preset = yes
			}
			if z.files == 0 {
				s.Facts, s.Choices = []string{"There are none to push yet."}, s.Choices[1:]
			}
			return s
		},
		Take: func(answer string) { z.answers.BaseFiles = answer == yes },
	}
}

func (z *wizard) filesText() string {
	files := "files"
	if z.files == 1 {
		files = "file"
	}
	return fmt.Sprintf("%s %s, %s", humanize.Comma(int64(z.files)), files, humanize.IBytes(uint64(z.bytes)))
}

// reviewStep says what will happen, where and as whom.
func (z *wizard) reviewStep() Step {
	return Step{
		Screen: func() Screen {
			p := z.answers
			facts := []string{
				"Hub        " + z.now.Origin + ", as " + z.now.As,
				"Project    " + p.Project.String() + ", " + string(p.Visibility),
				"Stack      " + z.now.Stack.String() + " " + p.StackVersion,
				"API        " + z.apiText(),
				"Config     the settings in .tool/" + p.Local + "/client.json",
			}
			if p.BaseFiles {
				facts = append(facts, "Files      "+z.sentText())
			}
			return Screen{
				Title: "Create it?", Facts: facts, Preset: goOn,
				Choices: []Choice{{goOn, "Create " + p.Project.String()}, {stop, "Stop here: nothing is made"}},
			}
		},
		Take: func(answer string) { z.start = answer },
	}
}

func (z *wizard) apiText() string {
	switch {
	case !z.now.API.IsZero():
		return z.now.API.String() + ", from client.json"
	case z.register == registered:
		return z.answers.API.String()
	}
	return z.now.Source + ", registered anew"
}

func (z *wizard) sentText() string {
	if z.Given.BaseFiles {
		return "those of the app"
	}
	return z.filesText()
}

func (z *wizard) endStep() Step {
	return Step{Load: func(context.Context) error {
		if z.start == stop {
			return ErrStop
		}
		if z.register != registered || !z.now.API.IsZero() {
			z.answers.API = ref.Ref{}
		}
		return nil
	}}
}
