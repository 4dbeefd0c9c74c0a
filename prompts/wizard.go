package prompts

import (
	"context"
	"slices"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
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
	Origin    string
	As        string   // the account of the token
	Accounts  []string // that may be written to
	Stack     ref.Ref
	Here      string   // version in stack.json, "" for none
	Versions  []string // that are published, newest first
	Withdrawn []string // of Versions
	Latest    string
	API       ref.Ref // client.json's, or zero
	Source    string  // of the API, where there is none
	Missing   string  // why Source cannot be registered, "" when it can
}

func (s *Preflight) published() bool { return slices.Contains(s.Versions, s.Here) }

func (s *Preflight) withdrawn(version string) bool { return slices.Contains(s.Withdrawn, version) }

// Wizard asks for everything that a new project needs. Its functions are called in the
// background.
type Wizard struct {
	Given    Given
	Locals   []string // local projects
	NewLocal string   // name for a local project where there is none
	Hub      string   // its origin

	Init       func(ctx context.Context, name string) error
	Check      func(ctx context.Context, local string) (*Preflight, error)
	Publish    func(ctx context.Context, local string) error
	IsFree     func(ctx context.Context, r ref.Ref) (bool, error)
	HasAPI     func(ctx context.Context, r ref.Ref) (bool, error)
	CountFiles func(ctx context.Context, local string) (files int, bytes int64, err error)
}

// Answers to where a project starts from.
const (
	goOn    = "go on"
	publish = "publish"
	stop    = "stop"
)

// wizard is the state of a Wizard.
type wizard struct {
	Wizard
	answers  *Answers
	preset   Answers // the answers before any was given
	hub      *Preflight
	start    string // what the first screens decided
	inits    bool   // it creates a local project
	register string
	files    int
	bytes    int64
}

// AskProject asks for the answers that were not given. It returns ErrStop when the user
// decides against the project.
func (p Prompter) AskProject(ctx context.Context, w Wizard, answers *Answers) error {
	z := &wizard{Wizard: w, answers: answers, preset: *answers, start: goOn, inits: len(w.Locals) == 0}
	return p.Ask(ctx,
		z.initStep(), z.makeStep(), z.localStep(), z.startStep(), z.publishStep(), z.slugStep(), z.visibilityStep(),
		z.versionStep(), z.apiStep(), z.apiRefStep(), z.filesStep(), z.reviewStep(), z.endStep(),
	)
}
