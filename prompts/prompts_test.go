package prompts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// plain returns a terminal on which lines are typed, and what it shows.
func plain(typed ...string) (*prompts.Terminal, *bytes.Buffer) {
	var shown bytes.Buffer
	t := tui.Terminal{In: strings.NewReader(strings.Join(typed, "\n")), Out: &shown, Plain: true, Columns: 80, Rows: 24}
	return prompts.On(t), &shown
}

// ask is a step that asks for a word and notes it under its name.
func ask(name string, answers map[string]string) prompts.Step {
	return prompts.Step{
		Question: func() prompts.Question { return prompts.Question{Title: name, Prompt: name, Preset: answers[name]} },
		Take:     func(answer string) { answers[name] = answer },
	}
}

func TestAsk_TakesAnswersInTurn(t *testing.T) {
	answers := map[string]string{"b": "preset"}
	p, _ := plain("one", "", "three", "")
	if err := p.Ask(t.Context(), ask("a", answers), ask("b", answers), ask("c", answers)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "one", "b": "preset", "c": "three"}, answers); diff != "" {
		t.Error(diff)
	}
}

func TestAsk_BackKeepsAnswer(t *testing.T) {
	answers := map[string]string{}
	skipped := ask("skipped", answers)
	skipped.Skip = func() bool { return true }
	loads := 0
	loaded := ask("b", answers)
	loaded.Load = func(context.Context) error { loads++; return nil }
	p, _ := plain("one", "two", "<", "<", "", "again", "three", "")
	if err := p.Ask(t.Context(), ask("a", answers), skipped, loaded, ask("c", answers)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "one", "b": "again", "c": "three"}, answers); diff != "" {
		t.Error(diff)
	}
	if loads != 3 {
		t.Errorf("what the step shows was found out %d times, want 3", loads)
	}
}

func TestAsk_NoWayBackFromFirstQuestion(t *testing.T) {
	answers := map[string]string{}
	p, shown := plain("<", "")
	if err := p.Ask(t.Context(), ask("a", answers)); err != nil {
		t.Fatal(err)
	}
	if answers["a"] != "<" || strings.Contains(shown.String(), "goes back") {
		t.Errorf("%v\n%s", answers, shown)
	}
}

func TestAsk_EndOfInputIsNoAnswer(t *testing.T) {
	answers := map[string]string{"a": "preset"}
	for name, typed := range map[string][]string{"nothing": nil, "half a line": {"hal"}, "ctrl-c": {"one\x03"},
		"ctrl-d": {"\x04"}} {
		p, _ := plain(typed...)
		if err := p.Ask(t.Context(), ask("a", answers)); !errors.Is(err, tui.ErrInterrupted) || answers["a"] != "preset" {
			t.Errorf("%s: %v, %v", name, answers, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := prompts.On(tui.Terminal{In: blocked{}, Out: &bytes.Buffer{}, Plain: true, Columns: 80, Rows: 24})
	if err := p.Ask(ctx, ask("a", answers)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// blocked is an input on which nothing is ever typed.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

func TestAsk_AsksAgainAfterInvalidAnswer(t *testing.T) {
	answer := ""
	p, shown := plain("bad", "taken", "good", "")
	err := p.Ask(t.Context(), prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{
				Title: "Which name?", Prompt: "Name",
				Check: func(typed string) error {
					if typed == "bad" {
						return errors.New("a bad one")
					}
					return nil
				},
				Lookup: func(_ context.Context, typed string) (string, error) {
					if typed == "taken" {
						return "", errors.New("taken already")
					}
					return "free", nil
				},
			}
		},
		Take: func(typed string) { answer = typed },
	})
	if err != nil || answer != "good" {
		t.Fatalf("%q, %v", answer, err)
	}
	for _, part := range []string{"Invalid answer: a bad one.", "Invalid answer: taken already.", "free."} {
		if !strings.Contains(shown.String(), part) {
			t.Errorf("it does not say %s:\n%s", part, shown)
		}
	}
}

func TestAsk_NothingTypedIsNoChoiceWithoutPreset(t *testing.T) {
	answer := ""
	p, shown := plain("", "2", "")
	err := p.Ask(t.Context(), prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{Title: "Which?", Choices: []prompts.Choice{{Value: "a", Text: "A"}, {Value: "b", Text: "B"}}}
		},
		Take: func(taken string) { answer = taken },
	})
	if err != nil || answer != "b" {
		t.Errorf("%q, %v", answer, err)
	}
	const invalid = "Invalid answer: type a number from 1 to 2."
	if !strings.Contains(shown.String(), invalid) {
		t.Errorf("it does not say %s:\n%s", invalid, shown)
	}
}

func TestAsk_YesAndNoAreKeysToo(t *testing.T) {
	question := prompts.Question{
		Title: "Publish it?", Preset: "no",
		Choices: []prompts.Choice{{"yes", "Publish it"}, {"no", "Cancel"}, {"show", "Show it"}},
	}
	for key, want := range map[string]string{"y": "yes", "n": "no", "s": ""} {
		if answer := prompts.Press(question, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}); answer != want {
			t.Errorf("key %s answers %q, want %q", key, answer, want)
		}
	}
	if answer := prompts.Press(question, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y"), Paste: true}); answer != "" {
		t.Errorf("a pasted y answers %q", answer)
	}
	names := prompts.Question{Title: "Which name?", Choices: []prompts.Choice{{"y", "y"}, {"yes", "yes"}}}
	if answer := prompts.Press(names, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y")}); answer != "" {
		t.Errorf("key y chooses %q of names", answer)
	}
	for typed, want := range map[string]string{"y": "yes", "N": "no", "yes": "yes", "no": "no", "2": "no"} {
		answer := ""
		p, _ := plain(typed, "")
		step := prompts.Step{
			Question: func() prompts.Question { return question }, Take: func(taken string) { answer = taken },
		}
		if err := p.Ask(t.Context(), step); err != nil || answer != want {
			t.Errorf("typing %s answers %q, %v, want %q", typed, answer, err, want)
		}
	}
}

func TestForm_TextReplacesASuggestion(t *testing.T) {
	q := prompts.Question{Title: "Which hub?", Prompt: "Address", Preset: "http://127.0.0.1:4680", Suggest: true}
	for text, want := range map[string]string{"": q.Preset, "https://hub.test": "https://hub.test"} {
		if got := prompts.Typed(tui.Terminal{Out: io.Discard, Columns: 80, Rows: 24}, q, text); got != want {
			t.Errorf("%q answers %q, want %q", text, got, want)
		}
	}
}

func TestAsk_ResultOfALoadThatWasLeftIsDropped(t *testing.T) {
	answers := map[string]string{}
	second := ask("b", answers)
	second.Load = func(context.Context) error { return nil }
	if shown := prompts.LoadTwice(ask("a", answers), second); shown != "" {
		t.Errorf("the question %q is shown while it loads", shown)
	}
}

func TestAsk_LoadErrorEnds(t *testing.T) {
	broken := errors.New("broken")
	p, _ := plain("one", "")
	err := p.Ask(t.Context(),
		prompts.Step{Load: func(context.Context) error { return broken }},
		prompts.Step{Question: func() prompts.Question { t.Error("it goes on"); return prompts.Question{} },
			Take: func(string) {}},
	)
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestTypeRef_RequiresFullName(t *testing.T) {
	r, err := ref.Parse("@acme/web")
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]bool{"@acme/web\n": true, " @acme/web \n": true, "\n": false, "web\n\n": false,
		"yes\ny\n\n": false} {
		p, _ := plain(typed)
		if yes, err := p.TypeRef(t.Context(), "Delete?", "All of it.", r); yes != want || err != nil {
			t.Errorf("%q: %t, %v", typed, yes, err)
		}
	}
}

// wizard returns a wizard for a hub on which @acme/base 1.0.0 and 0.9.0 are published and 1.0.1
// withdrawn, and notes what it asked for.
func wizard(asked *[]string) prompts.Wizard {
	stack, _ := ref.Parse("@acme/base")
	note := func(format string, args ...any) { *asked = append(*asked, fmt.Sprintf(format, args...)) }
	return prompts.Wizard{
		Locals: []string{"web"}, NewLocal: "app", Hub: "https://hub.example.com",
		Init: func(_ context.Context, name string) error { note("init %s", name); return nil },
		Check: func(_ context.Context, local string) (*prompts.Preflight, error) {
			note("check %s", local)
			return &prompts.Preflight{
				Me:    &wire.Whoami{User: "alice", Accounts: []wire.AccountRole{{Account: "acme", Role: wire.Writer}}},
				Stack: stack, Here: "1.1.0", Latest: "1.0.0", Source: "openapi.yaml",
				Versions: []wire.StackVersion{
					{Version: "1.0.1", WithdrawnAt: time.Now()}, {Version: "1.0.0"}, {Version: "0.9.0"},
				},
			}, nil
		},
		Publish: func(_ context.Context, local string) error { note("publish %s", local); return nil },
		Ask: func(_ context.Context, project, api ref.Ref) (*prompts.Asked, error) {
			text := "ask " + project.String()
			if !api.IsZero() {
				text += " " + api.String()
			}
			note("%s", text)
			return &prompts.Asked{}, nil
		},
		Files: func(context.Context) (*prompts.Files, error) {
			note("files")
			return &prompts.Files{Count: 3, Bytes: 42}, nil
		},
		Plan: func(_ context.Context, answers prompts.Answers) ([]string, error) {
			note("plan %s", answers.Project)
			return nil, nil
		},
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
		want  prompts.Answers
		asked []string
	}{
		"all preset": {
			typed: []string{"", "", "", "", "", "", ""},
			want: prompts.Answers{Local: "web", Project: parse("@acme/web"), Visibility: wire.Private,
				StackVersion: wire.Latest},
			asked: []string{"check web", "ask @acme/web", "files", "plan @acme/web"},
		},
		"all chosen": {
			typed: []string{"2", "@acme/shop", "2", "2", "2", "@acme/pets", "1", "1"}, // publish first
			want: prompts.Answers{
				Local: "web", Project: parse("@acme/shop"), Visibility: wire.Public, StackVersion: "1.0.0",
				API: parse("@acme/pets"), BaseFiles: true,
			},
			asked: []string{
				"check web", "publish web", "check web", "ask @acme/web", "ask @acme/shop", "ask @acme/shop",
				"ask @acme/shop @acme/pets",
				"files", "plan @acme/shop",
			},
		},
		"an API that is not taken after all": {
			typed: []string{"1", "web", "1", "1", "2", "@acme/pets", "<", "<", "1", "2", "1"},
			want: prompts.Answers{Local: "web", Project: parse("@acme/web"), Visibility: wire.Private,
				StackVersion: wire.Latest},
			asked: []string{
				"check web", "ask @acme/web", "ask @acme/web @acme/pets", "files", "files", "plan @acme/web",
			},
		},
		"all given": {
			given: prompts.Given{Local: true, Visibility: true, StackVersion: true, BaseFiles: true},
			typed: []string{"1", "web", "1", "1"},
			want: prompts.Answers{Local: "web", Project: parse("@acme/web"), Visibility: wire.Private,
				StackVersion: wire.Latest},
			asked: []string{"check web", "ask @acme/web", "plan @acme/web"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			w := wizard(&asked)
			w.Given = c.given
			got := prompts.Answers{Local: "web", Visibility: wire.Private, StackVersion: wire.Latest}
			p, shown := plain(append(c.typed, "")...)
			if err := p.AskProject(t.Context(), w, &got); err != nil {
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
	check := w.Check
	other, _ := ref.Parse("@acme/other")
	w.Check = func(ctx context.Context, local string) (*prompts.Preflight, error) {
		s, err := check(ctx, local)
		if local == "two" {
			s.API = other
		}
		return s, err
	}
	got := prompts.Answers{Local: "one", Visibility: wire.Private, StackVersion: wire.Latest}
	p, shown := plain("1", "1", "first", "2", "2", "2", "@acme/pets", "<", "<", "<", "<", "<", "<", "<", "2", "1", "", "",
		"", "", "", "")
	if err := p.AskProject(t.Context(), w, &got); err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	project, _ := ref.Parse("@acme/two")
	want := prompts.Answers{Local: "two", Project: project, Visibility: wire.Private, StackVersion: wire.Latest}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" {
		t.Errorf("%s\n%s", diff, shown)
	}
	if !strings.Contains(shown.String(), "API      @acme/other, from client.json") {
		t.Errorf("the review does not say which API:\n%s", shown)
	}
}

func TestWizard_StopsOnNo(t *testing.T) {
	for name, typed := range map[string][]string{"at the start": {"3"}, "at the review": {"1", "", "", "", "", "", "2"}} {
		var asked []string
		p, shown := plain(append(typed, "")...)
		if err := p.AskProject(t.Context(), wizard(&asked),
			&prompts.Answers{Local: "web", Visibility: wire.Private, StackVersion: wire.Latest}); !errors.Is(err,
			prompts.ErrStop) {
			t.Errorf("%s: %v\n%s", name, err, shown)
		}
	}
	var asked []string
	w := wizard(&asked)
	w.Locals = nil
	p, _ := plain("2", "")
	if err := p.AskProject(t.Context(), w, &prompts.Answers{}); !errors.Is(err, prompts.ErrStop) || len(asked) > 0 {
		t.Errorf("%v, %v", asked, err)
	}
}

// What exists already is not preset, and everything is asked before the review.
func TestWizard_PresetsNothingThatExists(t *testing.T) {
	var asked []string
	w := wizard(&asked)
	check := w.Check
	w.Check = func(ctx context.Context, local string) (*prompts.Preflight, error) {
		found, err := check(ctx, local)
		found.Project = "@acme/web"
		return found, err
	}
	w.Ask = func(_ context.Context, project, _ ref.Ref) (*prompts.Asked, error) {
		if project.Slug() == "web" {
			return &prompts.Asked{Refused: "@acme/web already exists"}, nil
		}
		return &prompts.Asked{
			Similar: []prompts.Choice{{Value: "@acme/pets", Text: "Use @acme/pets, which has the same description"}},
			Same:    "@acme/pets",
		}, nil
	}
	w.Plan = func(_ context.Context, answers prompts.Answers) ([]string, error) {
		if answers.API.String() != "@acme/pets" {
			t.Errorf("planned with the API %s", answers.API)
		}
		return []string{"git ignores 1 file:", "  secret"}, nil
	}
	answers := prompts.Answers{Local: "web", Visibility: wire.Private, StackVersion: wire.Latest}
	p, shown := plain("1", "web2", "", "", "", "", "1", "", "")
	if err := p.AskProject(t.Context(), w, &answers); err != nil || answers.Project.String() != "@acme/web2" ||
		answers.API.String() != "@acme/pets" {
		t.Errorf("%v %+v\n%s", err, answers, shown)
	}
	for _, want := range []string{
		"client.json names @acme/web already", "@acme/web already exists.", "Use @acme/pets, which has the same description",
		"git ignores 1 file:", "API      @acme/pets",
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, shown)
		}
	}
	p, _ = plain("1", "web2", "", "", "", "", "2", "")
	if err := p.AskProject(t.Context(), w, &answers); !errors.Is(err, prompts.ErrStop) {
		t.Errorf("after a no to the files: %v", err)
	}
}

// One choice is no question.
func TestWizard_AsksNothingWithOneAnswer(t *testing.T) {
	for files, want := range map[prompts.Files]string{
		{}:                                  "Files    the app has none yet",
		{Problem: "index.html is a socket"}: "Files    cannot be pushed: index.html is a socket",
	} {
		var asked []string
		w := wizard(&asked)
		check := w.Check
		w.Check = func(ctx context.Context, local string) (*prompts.Preflight, error) {
			found, err := check(ctx, local)
			found.Versions = found.Versions[:2] // of which one was withdrawn
			return found, err
		}
		w.Files = func(context.Context) (*prompts.Files, error) { return &files, nil }
		answers := prompts.Answers{Local: "web", Visibility: wire.Private, StackVersion: wire.Latest, BaseFiles: true}
		p, shown := plain("1", "", "", "", "", "")
		err := p.AskProject(t.Context(), w, &answers)
		if err != nil || answers.StackVersion != wire.Latest || answers.BaseFiles {
			t.Errorf("%v %+v\n%s", err, answers, shown)
		}
		for _, question := range []string{"Which version", "Push the app's files"} {
			if strings.Contains(shown.String(), question) {
				t.Errorf("it asks:\n%s", shown)
			}
		}
		if !strings.Contains(shown.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, shown)
		}
	}
}

func TestWizard_SaysThatTheVersionHereWasWithdrawn(t *testing.T) {
	var asked []string
	w := wizard(&asked)
	check := w.Check
	w.Check = func(ctx context.Context, local string) (*prompts.Preflight, error) {
		found, err := check(ctx, local)
		found.Here = "1.0.1"
		return found, err
	}
	p, shown := plain("2", "") // cancel: it cannot be published again
	err := p.AskProject(t.Context(), w, &prompts.Answers{Local: "web", StackVersion: wire.Latest})
	if !errors.Is(err, prompts.ErrStop) ||
		!strings.Contains(shown.String(), "@acme/base, 1.0.0 published, 1.0.1 here was withdrawn") {
		t.Errorf("%v\n%s", err, shown)
	}
}
