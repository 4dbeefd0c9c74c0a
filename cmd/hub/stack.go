package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/ref"
	semver "example.com/projecthub/hubclient/version"
	"example.com/projecthub/store"
)

func (a *app) stackCommand() *cobra.Command {
	return cmdline.Group("stack", "Manage stacks", a.stackWithdraw())
}

func (a *app) stackWithdraw() *cobra.Command {
	undo := false
	c := &cobra.Command{
		Use:   "withdraw ACCOUNT/SLUG VERSION",
		Short: "Withdraw a version of a stack from latest",
		Long: "Withdraw a published version of a stack: latest skips it from now on. Its number\n" +
			"and its bytes are kept, and projects that are pinned to it continue; tool push,\n" +
			"tool status and the project's page say that there is another version to use.\n" +
			"The number cannot be published again. The only version that is left of a stack\n" +
			"cannot be withdrawn.",
		Example: "  hub stack withdraw acme/site 1.3.0\n  hub stack withdraw acme/site 1.3.0 --undo",
		Args:    cmdline.Exactly("ACCOUNT/SLUG", "VERSION"),
		RunE: func(c *cobra.Command, args []string) error {
			stack, err := ref.ParsePath(args[0])
			if err != nil {
				stack, err = ref.Parse(args[0])
			}
			if err != nil {
				return cmdline.Usagef("%q is not a stack: a stack is ACCOUNT/SLUG", args[0])
			}
			if !semver.Valid(args[1]) {
				return cmdline.Usagef("%q is not a version, such as 1.2.0", args[1])
			}
			return a.withdraw(c, stack, args[1], undo)
		},
	}
	c.Flags().BoolVar(&undo, "undo", false, "undo the withdrawal, so that latest can be this version again")
	return c
}

func (a *app) withdraw(c *cobra.Command, stack ref.Ref, number string, undo bool) error {
	action, done := "stack.withdraw", "Withdrew"
	if undo {
		action, done = "stack.unwithdraw", "Undid the withdrawal of"
	}
	latest, changed := "", false
	err := a.change(c.Context(), store.AuditRow{Account: stack.Account(), Action: action, Object: stack.String(), Detail: number}, func(tx *store.Tx) (_ bool, err error) {
		latest, changed, err = tx.WithdrawVersion(c.Context(), stack, number, undo)
		return changed, err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return a.noVersion(c.Context(), stack, number, undo)
	case errors.Is(err, store.ErrOnlyVersion):
		return &hintedError{err: fmt.Errorf("%s is the only version of %s that is left", number, stack), hint: "publish another version first: tool publish"}
	case err != nil:
		return err
	}
	result := map[string]any{"type": "withdrawn", "schema": 1, "stack": stack.Path(), "version": number, "withdrawn": !undo, "changed": changed, "latest": latest}
	return a.print(result, func(w io.Writer) {
		switch {
		case changed:
			fmt.Fprintf(w, "%s %s of %s; latest is %s\n", done, number, stack, latest)
		case undo:
			fmt.Fprintf(w, "%s of %s was not withdrawn; latest is %s\n", number, stack, latest)
		default:
			fmt.Fprintf(w, "%s of %s was withdrawn before; latest is %s\n", number, stack, latest)
		}
	})
}

// noVersion is the failure of withdrawing a version that does not exist, or undoing that.
func (a *app) noVersion(ctx context.Context, stack ref.Ref, number string, undo bool) error {
	var candidates []string // newest first
	err := a.read(ctx, func(v *store.View) error {
		_, versions, err := v.Stack(ctx, stack)
		for _, version := range versions {
			if withdrawn := version.WithdrawnAt != 0; withdrawn == undo && len(candidates) < 5 {
				candidates = append(candidates, version.Version)
			}
		}
		return err
	})
	hint := "its newest versions: " + strings.Join(candidates, ", ")
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("stack %s does not exist", stack)
	case err != nil:
		return err
	case undo && len(candidates) == 0:
		hint = "none of its versions is withdrawn"
	case undo:
		hint = "withdrawn are: " + strings.Join(candidates, ", ")
	}
	return &hintedError{err: fmt.Errorf("%s has no version %s", stack, number), hint: hint}
}
