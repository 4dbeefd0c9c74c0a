package app_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
)

// pets is a result that has texts, numbers and no null.
type pets struct {
	Names []string       `json:"names"`
	Price jsontext.Value `json:"price"`
}

func (*pets) Kind() string        { return "pets" }
func (*pets) Text(w *app.Printer) { w.Line("as text") }

// petsCommand returns a command that shows pets, or fails with an argument.
func petsCommand(a *app.App) *cobra.Command {
	return &cobra.Command{Use: "pets", RunE: a.Run(func(_ context.Context, args []string) error {
		if len(args) > 0 {
			return errors.New("there are none")
		}
		return a.Show(&pets{[]string{"Polly", "Rex \x1b[31m\nthe dog"}, jsontext.Value("1.00")})
	})}
}

func TestJQ_PrintsWhatTheExpressionSelects(t *testing.T) {
	w := apptest.New(t)
	for expression, want := range map[string]string{
		".names[0]":                "Polly\n",
		".names[1]":                "Rex \\x1b[31m\nthe dog\n", // not what controls a terminal
		".type, .price":            "pets\n1.00\n",             // numbers keep their digits
		"{type, n: .names[:1]}":    `{"n":["Polly"],"type":"pets"}` + "\n",
		".missing":                 "null\n",
		".names[] | select(. < 0)": "",
	} {
		if r := w.Run(petsCommand, "--jq", expression).Done(); r.Out != want || r.Err != "" {
			t.Errorf("%s: %q %q, want %q", expression, r.Out, r.Err, want)
		}
	}
}

func TestJQ_SaysWhereTheExpressionIsWrong(t *testing.T) {
	w := apptest.New(t)
	for expression, want := range map[string]string{
		".names | }":  `error: --jq: unexpected token "}" after ".names | "` + "\n",
		".names |":    `error: --jq: unexpected EOF after ".names |"` + "\n",
		"name(.type)": `error: --jq: function not defined: name/1` + "\n",
	} {
		w.Run(petsCommand, "--jq", expression).Exits(2).Prints(want)
	}
	w.Run(petsCommand, "--jq", ".price[]").Exits(1).
		Prints("pets: --jq: cannot iterate over: number (1.00)")
}

func TestJQ_ReportsAFailureOnStderr(t *testing.T) {
	if r := apptest.New(t).Run(petsCommand, "none", "--jq", ".type").Exits(1); r.Out != "" {
		t.Errorf("%s", r.Out)
	} else {
		r.Prints("error: pets: there are none")
	}
}
