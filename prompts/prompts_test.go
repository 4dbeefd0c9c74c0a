package prompts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// plain returns a terminal on which lines are typed, and what it shows.
func plain(typed ...string) (prompts.Terminal, *bytes.Buffer) {
	var shown bytes.Buffer
	return prompts.Terminal{In: strings.NewReader(strings.Join(typed, "\n")), Out: &shown, Plain: true, Columns: 80, Rows: 24}, &shown
}

// ask is a step that asks for a word and notes it under its name.
func ask(name string, answers map[string]string) prompts.Step {
	return prompts.Step{
		Screen: func() prompts.Screen { return prompts.Screen{Title: name, Prompt: name, Preset: answers[name]} },
		Take:   func(answer string) { answers[name] = answer },
	}
}

func TestConverse_TakesAnswersInTurn(t *testing.T) {
	answers := map[string]string{"b": "preset"}
	term, _ := plain("one", "", "three", "")
	if err := term.Converse(t.Context(), []prompts.Step{ask("a", answers), ask("b", answers), ask("c", answers)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "one", "b": "preset", "c": "three"}, answers); diff != "" {
		t.Error(diff)
	}
}

func TestConverse_BackKeepsAnswer(t *testing.T) {
	answers := map[string]string{}
	skipped := ask("skipped", answers)
	skipped.Skip = func() bool { return true }
	loads := 0
	loaded := ask("b", answers)
	loaded.Load = func(context.Context) error { loads++; return nil }
	term, _ := plain("one", "two", "<", "<", "", "again", "three", "")
	if err := term.Converse(t.Context(), []prompts.Step{ask("a", answers), skipped, loaded, ask("c", answers)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "one", "b": "again", "c": "three"}, answers); diff != "" {
		t.Error(diff)
	}
	if loads != 3 {
		t.Errorf("what the step shows was found out %d times, want 3", loads)
	}
}

func TestConverse_NoWayBackFromFirstQuestion(t *testing.T) {
	answers := map[string]string{}
	term, shown := plain("<", "")
	if err := term.Converse(t.Context(), []prompts.Step{ask("a", answers)}); err != nil {
		t.Fatal(err)
	}
	if answers["a"] != "<" || strings.Contains(shown.String(), "goes back") {
		t.Errorf("%v\n%s", answers, shown)
	}
}

func TestConverse_EndOfInputIsNoAnswer(t *testing.T) {
	answers := map[string]string{"a": "preset"}
	for name, typed := range map[string][]string{"nothing": nil, "half a line": {"hal"}, "ctrl-c": {"one\x03"}, "ctrl-d": {"\x04"}} {
		term, _ := plain(typed...)
		if err := term.Converse(t.Context(), []prompts.Step{ask("a", answers)}); !errors.Is(err, prompts.ErrInterrupted) || answers["a"] != "preset" {
			t.Errorf("%s: %v, %v", name, answers, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	term := prompts.Terminal{In: blocked{}, Out: &bytes.Buffer{}, Plain: true, Columns: 80, Rows: 24}
	if err := term.Converse(ctx, []prompts.Step{ask("a", answers)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// blocked is an input on which nothing is ever typed.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

func TestConverse_AsksAgainAfterInvalidAnswer(t *testing.T) {
	answer := ""
	term, shown := plain("bad", "taken", "good", "")
	err := term.Converse(t.Context(), []prompts.Step{{
		Screen: func() prompts.Screen {
			return prompts.Screen{
				Prompt: "Name",
				Check: func(typed string) error {
					if typed == "bad" {
						return errors.New("a bad one")
					}
					return nil
				},
				Look: func(_ context.Context, typed string) (string, error) {
					if typed == "taken" {
						return "", errors.New("taken already")
					}
					return "free", nil
				},
			}
		},
		Take: func(typed string) { answer = typed },
	}})
	if err != nil || answer != "good" {
		t.Fatalf("%q, %v", answer, err)
	}
	for _, part := range []string{"Not taken: a bad one.", "Not taken: taken already.", "free."} {
		if !strings.Contains(shown.String(), part) {
			t.Errorf("it does not say %s:\n%s", part, shown)
		}
	}
}

func TestConverse_LoadErrorEnds(t *testing.T) {
	broken := errors.New("broken")
	term, _ := plain("one", "")
	err := term.Converse(t.Context(), []prompts.Step{
		{Load: func(context.Context) error { return broken }},
		{Screen: func() prompts.Screen { t.Error("it goes on"); return prompts.Screen{} }, Take: func(string) {}},
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestTypeRef_RequiresFullName(t *testing.T) {
	r, err := ref.Parse("@acme/web")
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]bool{"@acme/web\n": true, " @acme/web \n": true, "\n": false, "web\n\n": false, "yes\ny\n\n": false} {
		term, _ := plain(typed)
		if yes, err := term.TypeRef(t.Context(), "Delete?", "All of it.", r); yes != want || err != nil {
			t.Errorf("%q: %t, %v", typed, yes, err)
		}
	}
}

// wizard returns a wizard for a hub on which @acme/base 1.0.0 is published, and
// notes what it asked for.
func wizard(asked *[]string) prompts.Wizard {
	stack, _ := ref.Parse("@acme/base")
	note := func(format string, args ...any) { *asked = append(*asked, fmt.Sprintf(format, args...)) }
	return prompts.Wizard{
		Locals: []string{"web"}, Fresh: "app", Hub: "https://hub.example.com",
		Init: func(_ context.Context, name string) error { note("init %s", name); return nil },
		Look: func(_ context.Context, local string) (*prompts.Situation, error) {
			note("look %s", local)
			return &prompts.Situation{
				Origin: "https://hub.example.com", As: "alice", Accounts: []string{"acme"}, Stack: stack, Here: "1.1.0",
				Versions: []string{"1.0.0"}, Latest: "1.0.0", Source: "openapi.yaml",
			}, nil
		},
		Publish: func(_ context.Context, local string) error { note("publish %s", local); return nil },
		Free:    func(_ context.Context, r ref.Ref) (bool, error) { note("free %s", r); return true, nil },
		HasAPI:  func(_ context.Context, r ref.Ref) (bool, error) { note("api %s", r); return true, nil },
		Count:   func(context.Context, string) (int, int64, error) { note("count"); return 3, 42, nil },
	}
}

func TestWizard_CollectsAllAnswers(t *testing.T) {
	parse := func(s string) ref.Ref {
		r, err := ref.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, c := range map[string]struct {
		given prompts.Given
		typed []string
		want  prompts.NewProject
		asked []string
	}{
		"all preset": {
			typed: []string{"", "", "", "", "", "", ""},
			want:  prompts.NewProject{Local: "web", Project: parse("@acme/web"), Visibility: wire.Private, StackVersion: wire.Latest},
			asked: []string{"look web", "free @acme/web", "count"},
		},
		"all chosen": {
			typed: []string{"2", "@acme/shop", "2", "2", "2", "@acme/pets", "1", "1"}, // publish first
			want: prompts.NewProject{
				Local: "web", Project: parse("@acme/shop"), Visibility: wire.Public, StackVersion: "1.0.0", API: parse("@acme/pets"), BaseFiles: true,
			},
			asked: []string{"look web", "publish web", "look web", "free @acme/shop", "api @acme/pets", "count"},
		},
		"an API that is not taken after all": {
			typed: []string{"1", "web", "1", "1", "2", "@acme/pets", "<", "<", "1", "2", "1"},
			want:  prompts.NewProject{Local: "web", Project: parse("@acme/web"), Visibility: wire.Private, StackVersion: wire.Latest},
			asked: []string{"look web", "free @acme/web", "api @acme/pets", "count", "count"},
		},
		"all given": {
			given: prompts.Given{Local: true, Visibility: true, StackVersion: true, BaseFiles: true},
			typed: []string{"1", "web", "1", "1"},
			want:  prompts.NewProject{Local: "web", Project: parse("@acme/web"), Visibility: wire.Private, StackVersion: wire.Latest},
			asked: []string{"look web", "free @acme/web"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			w := wizard(&asked)
			w.Given = c.given
			got := prompts.NewProject{Local: "web", Visibility: wire.Private, StackVersion: wire.Latest}
			term, shown := plain(append(c.typed, "")...)
			if err := term.CreateProject(t.Context(), w, &got); err != nil {
				t.Fatalf("%v\n%s", err, shown)
			}
			if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" {
				t.Errorf("%s\n%s", diff, shown)
			}
			if diff := cmp.Diff(c.asked, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Answers about one local project are none about another: what the review shows is
// what is made.
func TestWizard_AsksAgainForOtherLocalProject(t *testing.T) {
	var asked []string
	w := wizard(&asked)
	w.Locals = []string{"one", "two"}
	look := w.Look
	other, _ := ref.Parse("@acme/other")
	w.Look = func(ctx context.Context, local string) (*prompts.Situation, error) {
		s, err := look(ctx, local)
		if local == "two" {
			s.API = other
		}
		return s, err
	}
	got := prompts.NewProject{Local: "one", Visibility: wire.Private, StackVersion: wire.Latest}
	term, shown := plain("1", "1", "first", "2", "2", "2", "@acme/pets", "<", "<", "<", "<", "<", "<", "<", "2", "1", "", "", "", "", "", "")
	if err := term.CreateProject(t.Context(), w, &got); err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	project, _ := ref.Parse("@acme/two")
	want := prompts.NewProject{Local: "two", Project: project, Visibility: wire.Private, StackVersion: wire.Latest}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" {
		t.Errorf("%s\n%s", diff, shown)
	}
	if !strings.Contains(shown.String(), "API        @acme/other, from client.json") {
		t.Errorf("the review does not say which API:\n%s", shown)
	}
}

func TestWizard_StopsOnNo(t *testing.T) {
	for name, typed := range map[string][]string{"at the start": {"3"}, "at the review": {"1", "", "", "", "", "", "2"}} {
		var asked []string
		term, shown := plain(append(typed, "")...)
		if err := term.CreateProject(t.Context(), wizard(&asked), &prompts.NewProject{Local: "web", Visibility: wire.Private, StackVersion: wire.Latest}); !errors.Is(err, prompts.ErrStop) {
			t.Errorf("%s: %v\n%s", name, err, shown)
		}
	}
	var asked []string
	w := wizard(&asked)
	w.Locals = nil
	term, _ := plain("2", "")
	if err := term.CreateProject(t.Context(), w, &prompts.NewProject{}); !errors.Is(err, prompts.ErrStop) || len(asked) > 0 {
		t.Errorf("%v, %v", asked, err)
	}
}
