package cmdline_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
)

// run runs a small program, whose variables start with APP_, and returns what is
// printed for a usage error.
func run(t *testing.T, variables map[string]string, args ...string) (printed string, wait time.Duration,
	names []string) {
	t.Helper()
	root := &cobra.Command{Use: "app", Args: cmdline.NoCommand, SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error { return nil }}
	root.SetOut(io.Discard)
	root.PersistentFlags().Bool("json", false, "")
	root.SetFlagErrorFunc(cmdline.FlagError)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		return cmdline.FromEnvironment(c, "APP_", func(name string) string { return variables[name] })
	}
	set := cmdline.Command("set ORG USER [--time-limit DURATION]", "Set a role",
		func(*cobra.Command, []string) error { return nil })
	set.Flags().DurationVar(&wait, "time-limit", 0, "")
	set.Flags().StringArrayVar(&names, "name", nil, "")
	root.AddCommand(cmdline.Group("member", "Manage members", set))
	root.SetHelpCommand(cmdline.Help(root))
	root.SetArgs(args)
	c, err := root.ExecuteC()
	if err == nil {
		return "", wait, names
	}
	if _, ok := errors.AsType[*cmdline.UsageError](err); !ok {
		t.Errorf("%v: %v is no usage error", args, err)
	}
	return strings.Join(cmdline.UsageLines(err, c.CommandPath(), cmdline.Line.String), "\n"), wait, names
}

func TestUsageError_SaysWhatToType(t *testing.T) {
	for line, want := range map[string]string{
		"member set acme":       "error: app member set needs USER\n  help: app member set --help",
		"member set":            "error: app member set needs ORG and USER\n  help: app member set --help",
		"member set acme bob x": "error: app member set does not take \"x\"\n  help: app member set --help",
		"membr set 'x": "error: app has no command \"membr\": did you mean member?\n  try: app " +
			"member set ''\\''x'\n  help: app --help",
		"membr set x --name y": "error: app has no command \"membr\": did you mean member?\n  help: app --help",
		"member st x -x":       "error: app member has no command \"st\": did you mean set?\n  help: app member --help",
		"other":                "error: app has no command \"other\"\n  help: app --help",
		"help other": "error: there is no help for \"app other\"\n  try: app help\n  help: app " +
			"help --help",
		"help member st": "error: there is no help for \"app member st\": did you mean set?\n  " +
			"try: app help member set\n  help: app help --help",
		"help member set acme": "error: there is no help for \"app member set acme\"\n  try: app help " +
			"member set\n  help: app help --help",
		"help member": "",
		"member --json": "error: app member needs a command\n  try: app member list --json\n  " +
			"help: app member --help",
		"member set acme bob --jsn": "error: unknown flag: --jsn: did you mean --json?\n  help: app member " +
			"set --help",
		"member set acme bob --unheard": "error: unknown flag: --unheard\n  help: app member set --help",
		"member set acme bob --json=maybe": "error: --json is true or false, not \"maybe\"\n  help: app member set " +
			"--help",
		"member set acme bob --time-limit=later": "error: --time-limit is a duration, such as 30s or 24h, not \"later\"\n  " +
			"help: app member set --help",
		"member":              "",
		"member set acme bob": "",
	} {
		got, _, _ := run(t, nil, strings.Fields(line)...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestCommand_NeedsTheOperandsOfItsUsage(t *testing.T) {
	for use, want := range map[string]int{
		"serve": 0, "list [--user ACCOUNT]": 0, "copy --to DATABASE": 0, "create NAME": 1, "set ORG USER --role ROLE": 2,
	} {
		c := cmdline.Command(use, "", nil)
		for n := range 4 {
			if err := c.Args(c, make([]string, n)); (err == nil) != (n == want) {
				t.Errorf("%s with %d operands: %v", use, n, err)
			}
		}
	}
}

func TestFromEnvironment_FlagsTakePrecedence(t *testing.T) {
	variables := map[string]string{"APP_TIME_LIMIT": "30s", "APP_NAME": "a,b", "APP_JSON": ""}
	if said, wait, names := run(t, variables, "member", "set", "acme", "bob"); said != "" || wait != 30*time.Second ||
		!cmp.Equal(names, []string{"a", "b"}) {
		t.Errorf("%s %v %v", said, wait, names)
	}
	if _, wait, names := run(t, variables, "member", "set", "acme", "bob", "--time-limit", "1m", "--name",
		"c"); wait != time.Minute || !cmp.Equal(names, []string{"c"}) {
		t.Errorf("%v %v", wait, names)
	}
	variables["APP_TIME_LIMIT"] = "soon"
	if said, _, _ := run(t, variables, "member", "set", "acme", "bob"); !strings.HasPrefix(said,
		"error: APP_TIME_LIMIT: --time-limit is a duration") {
		t.Error(said)
	}
}

func TestUsagef_WrapsItsReason(t *testing.T) {
	err := cmdline.Usagef("--db: %w", io.EOF).WithHint("write %s", "sqlite:PATH")
	if !errors.Is(fmt.Errorf("hub: %w", err), io.EOF) || err.Hint != "write sqlite:PATH" {
		t.Errorf("%+v", err)
	}
}

func TestVersion_IsTheOneThatWasSet(t *testing.T) {
	if got := cmdline.Version("1.2.3"); got != "1.2.3" {
		t.Error(got)
	}
	if got := cmdline.Version(""); got == "" {
		t.Error("there is no version")
	}
}
