package prompts

import (
	"context"

	"example.com/projecthub/hubclient/ref"
)

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
				Choices: []Choice{{goOn, "Create " + p.Project.String()}, {stop, "Cancel"}},
			}
		},
		Take: func(answer string) { z.start = answer },
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

func (z *wizard) endStep() Step {
	return Step{Load: func(context.Context) error {
		if z.start == stop {
			return ErrStop
		}
		if z.register != registered || !z.hub.API.IsZero() {
			z.answers.API = ref.Ref{}
		}
		return nil
	}}
}
