package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/store"
)

type fsckResult struct {
	Type     string    `json:"type"`
	Schema   int       `json:"schema"`
	Blobs    int       `json:"blobs"`
	Projects int       `json:"projects"`
	Stacks   int       `json:"stacks"` // versions
	APIs     int       `json:"apis"`
	Problems []problem `json:"problems"`
}

type problem struct {
	Reason string `json:"reason"`
	Remedy string `json:"remedy"`
}

func (a *app) fsckCommand() *cobra.Command {
	repair := false
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Check all stored data against its digests",
		Long: "Read all blobs, lists of base files, configs, revisions, stacks and API\n" +
			"descriptions, compare them with their digests, and print what is damaged or\n" +
			"missing, with what to do about it. Hubs can serve meanwhile. The exit code is 1\n" +
			"if there is a problem. --repair marks damaged base files, so that the next push\n" +
			"of the same files sends and replaces them, and lets hub gc delete objects that\n" +
			"the database does not name.",
		Example: "  hub fsck\n  hub fsck --repair --json",
		Args:    cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			done := fsckResult{Type: "checked", Schema: 1, Problems: []problem{}}
			err := a.withBlobs(c.Context(), func(s *store.Store) error {
				counts, err := s.Check(c.Context(), repair, func(p store.Problem) {
					done.Problems = append(done.Problems, problem{pat.Redact(p.Cause.Error()), p.Remedy})
				})
				done.Blobs, done.Projects, done.Stacks, done.APIs = counts.Blobs, counts.Projects, counts.Stacks, counts.APIs
				return err
			})
			if err != nil {
				return err
			}
			if err := a.print(done, done.text); err != nil || len(done.Problems) == 0 {
				return err
			}
			return errReported
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "let the next push of the same base files replace what is damaged")
	return c
}

func (d fsckResult) text(w io.Writer) {
	for _, p := range d.Problems {
		fmt.Fprintf(w, "%s\n  %s\n", p.Reason, p.Remedy)
	}
	fmt.Fprintf(w, "Checked blobs: %d; projects: %d; stack versions: %d; APIs: %d; problems: %d\n", d.Blobs, d.Projects, d.Stacks, d.APIs, len(d.Problems))
}
