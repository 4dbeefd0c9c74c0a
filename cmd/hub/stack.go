package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/ref"
	semver "example.com/projecthub/hubclient/version"
	"example.com/projecthub/store"
)

func (a *app) stackWithdraw() *cobra.Command {
	undo := false
	c := a.command("withdraw ACCOUNT/SLUG VERSION", "Withdraw a version of a stack from latest",
		func(ctx context.Context, args []string) (r result, err error) {
			stack, err := ref.ParseTyped(args[0])
			if err != nil {
				return r, cmdline.Usagef("%q is not a stack: a stack is ACCOUNT/SLUG", args[0])
			}
			if !semver.Valid(args[1]) {
				return r, cmdline.Usagef("%q is not a version, such as 1.2.0", args[1])
			}
			number, action := args[1], "stack.withdraw"
			if undo {
				action = "stack.unwithdraw"
			}
			latest, changed := "", false
			row := store.AuditRow{Account: stack.Account(), Action: action, Object: stack.String(), Detail: number}
			err = a.write(ctx, row, func(tx *store.Tx) (bool, error) {
				r, err := tx.ResourceByName(stack.Account(), store.KindStack, stack.Slug())
				if err == nil {
					latest, changed, err = tx.WithdrawVersion(r.ID, number, undo)
				}
				if errors.Is(err, store.ErrNotFound) {
					err = noVersion(tx.View, r.ID, stack, number, undo)
				}
				return changed, err
			})
			if errors.Is(err, store.ErrOnlyVersion) {
				err = fmt.Errorf("%s is the only version of %s that is left", number, stack)
				err = hint(err, "publish another version first: tool publish")
			}
			text := "Withdrew %s of %s; latest is %s"
			switch {
			case undo && changed:
				text = "Undid the withdrawal of %s of %s; latest is %s"
			case undo:
				text = "%s of %s was not withdrawn; latest is %s"
			case !changed:
				text = "%s of %s was withdrawn before; latest is %s"
			}
			members := map[string]any{
				"stack": stack.Path(), "version": number, "withdrawn": !undo, "changed": changed, "latest": latest,
			}
			return result{"withdrawn", members, fmt.Sprintf(text, number, stack, latest)}, err
		})
	c.Long = "Withdraw a published version of a stack: latest skips it from now on. Its number\n" +
		"and its bytes are kept, and projects that are pinned to it continue; tool push,\n" +
		"tool status and the project's page say that there is another version to use.\n" +
		"The number cannot be published again. The only version that is left of a stack\n" +
		"cannot be withdrawn."
	c.Example = "  hub stack withdraw acme/site 1.3.0\n  hub stack withdraw acme/site 1.3.0 --undo"
	c.Flags().BoolVar(&undo, "undo", false, "undo the withdrawal, so that latest can be this version again")
	return c
}

// noVersion is the failure of withdrawing a version that does not exist, or undoing that.
func noVersion(v store.View, id int64, stack ref.Ref, number string, undo bool) error {
	_, versions, err := v.Stack(id)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("stack %s does not exist", stack)
	}
	if err != nil {
		return err
	}
	var candidates []string // newest first
	for _, version := range versions {
		if withdrawn := version.WithdrawnAt != 0; withdrawn == undo && len(candidates) < 5 {
			candidates = append(candidates, version.Version)
		}
	}
	known := "its newest versions: "
	switch {
	case undo && len(candidates) == 0:
		known = "none of its versions is withdrawn"
	case undo:
		known = "withdrawn are: "
	}
	return hint(fmt.Errorf("%s has no version %s", stack, number), known+strings.Join(candidates, ", "))
}
