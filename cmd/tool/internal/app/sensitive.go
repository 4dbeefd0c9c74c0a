package app

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// SeeToolignore is the advice of a note about base files.
const SeeToolignore = ": .toolignore says what is not pushed"

// Sensitive lists files that are perhaps not meant to be sent.
type Sensitive struct {
	Secrets []Secret // files that hold secrets by their names or their text
	Ignored []string // files that git ignores
	Unknown error    // why it is not known which files git ignores
}

// Secret is a file that holds secrets.
type Secret struct {
	Path string // relative to the workspace
	Why  string // what its text contains, such as a GitHub token; "": its name says that it holds secrets
}

func (s Secret) String() string {
	if s.Why == "" {
		return s.Path
	}
	return s.Path + ": " + s.Why
}

// Ignored finds out which of the files below root git ignores.
func Ignored(ctx context.Context, root string, files []*basefiles.File) (s Sensitive) {
	s.Ignored, s.Unknown = basefiles.GitIgnored(ctx, root, files)
	return s
}

// And adds other files.
func (s Sensitive) And(other Sensitive) Sensitive {
	if s.Unknown == nil {
		s.Unknown = other.Unknown
	}
	s.Secrets = slices.Concat(s.Secrets, other.Secrets)
	slices.SortFunc(s.Secrets, func(a, b Secret) int { return strings.Compare(a.Path, b.Path) })
	s.Secrets = slices.CompactFunc(s.Secrets, func(a, b Secret) bool { return a.Path == b.Path })
	s.Ignored = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.Ignored, other.Ignored))))
	return s
}

// AllowSecrets adds the flag --allow-secrets.
func AllowSecrets(c *cobra.Command, allowed *[]string) {
	c.Flags().StringArrayVar(allowed, "allow-secrets", nil,
		"send this `FILE` of the workspace although such files hold secrets; repeatable")
}

// NotAllowed returns the files that --allow-secrets does not name.
func NotAllowed(secrets []Secret, allowed []string) []Secret {
	return slices.DeleteFunc(secrets, func(s Secret) bool { return isAllowed(allowed, s.Path) })
}

// isAllowed reports whether --allow-secrets names a file of the workspace.
func isAllowed(allowed []string, file string) bool {
	return slices.ContainsFunc(allowed, func(typed string) bool { return path.Clean(filepath.ToSlash(typed)) == file })
}

// maxAllowed bounds how many files a printed command allows: nobody reads a longer list before typing it.
const maxAllowed = 20

// RefuseSecrets refuses to send files that hold secrets. again is the command that would have sent
// them, without --allow-secrets.
func RefuseSecrets(secrets []Secret, allowed []string, again cmdline.Line) error {
	if len(secrets) == 0 {
		return nil
	}
	f := failure.New(wire.CodeSecretFound, "%s would be sent, such as %s",
		Count(len(secrets), "file that holds secrets", "files that hold secrets"),
		strings.Join(secretLines(secrets[:min(3, len(secrets))]), ", ")).
		WithHint("remove and revoke the secret, or add the file to .toolignore; to send it anyway:")
	if len(allowed)+len(secrets) > maxAllowed {
		return f
	}
	for _, name := range allowed {
		again = again.Flag("--allow-secrets", name)
	}
	for _, s := range secrets {
		again = again.Flag("--allow-secrets", s.Path)
	}
	return f.Try(again)
}

func secretLines(secrets []Secret) []string {
	all := make([]string, len(secrets))
	for i, s := range secrets {
		all[i] = s.String()
	}
	return all
}

// Note returns a note about files that git ignores, "" for none. one and many are the noun
// for them, and advice says what to do about them.
func (s Sensitive) Note(one, many, advice string) string {
	switch {
	case s.Unknown != nil:
		return "it is not known which files git ignores: " + s.Unknown.Error()
	case len(s.Ignored) == 0:
		return ""
	}
	examples := strings.Join(s.Ignored[:min(3, len(s.Ignored))], ", ")
	return fmt.Sprintf("git ignores %s, such as %s%s", Count(len(s.Ignored), one, many), examples, advice)
}

// IgnoredConsent returns the name by which package state remembers that a person agreed to push files
// that git ignores to a project.
func IgnoredConsent(origin string, project ref.Ref) string {
	return "push files that git ignores to " + origin + " " + project.String()
}

// Facts returns lines that list the files for a person, nil if there are none.
func (s Sensitive) Facts() (facts []string) {
	if len(s.Secrets) > 0 {
		facts = append(facts, "Such files hold secrets:")
		facts = append(facts, Shortened(secretLines(s.Secrets))...)
	}
	if len(s.Ignored) > 0 {
		facts = append(facts, fmt.Sprintf("git ignores %s:", Count(len(s.Ignored), "file", "files")))
		facts = append(facts, Shortened(s.Ignored)...)
	}
	if s.Unknown != nil {
		facts = append(facts, "It is not known which files git ignores: "+s.Unknown.Error())
	}
	return facts
}

// ConfirmSensitive asks whether sensitive files are pushed, if there are any.
func (a *App) ConfirmSensitive(ctx context.Context, project string, s Sensitive) (asked, yes bool, err error) {
	facts := s.Facts()
	if facts == nil {
		return false, true, nil
	}
	yes, err = a.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Push these files to %s?", project),
		Facts: append(facts, "To leave base files out, list them in .toolignore."),
		Yes:   "Push them",
	})
	return true, yes, err
}
