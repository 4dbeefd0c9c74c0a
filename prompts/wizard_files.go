package prompts

import (
	"context"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/tui"
)

const (
	yes = "yes"
	no  = "no"
)

func (z *wizard) filesStep() Step {
	return Step{
		Skip: func() bool { return z.Given.BaseFiles }, Doing: "Counting the app's files",
		Load: func(ctx context.Context) (err error) {
			z.files, z.bytes, err = z.CountFiles(ctx, z.answers.Local)
			return err
		},
		Question: func() Question {
			q := Question{
				Title: "Push the app's files, too?", Preset: no,
				Facts: []string{z.filesText() + ". The live preview needs them. To leave files out, list them in .toolignore."},
				Choices: []Choice{
					{yes, "Push " + z.filesText()},
					{no, "Not now: push them later with tool push --base-files"},
				},
			}
			if z.answers.BaseFiles {
				q.Preset = yes
			}
			if z.files == 0 {
				q.Facts, q.Choices = []string{"The app has no files yet."}, q.Choices[1:]
			}
			return q
		},
		Take: func(answer string) { z.answers.BaseFiles = answer == yes },
	}
}

func (z *wizard) filesText() string {
	return tui.Count(z.files, "file", "files") + ", " + humanize.IBytes(uint64(z.bytes))
}
