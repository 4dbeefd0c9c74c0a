package create

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/apisource"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// maxSimilar bounds how many APIs are offered.
const maxSimilar = 5

// similar returns the APIs that have a description with this digest or this title, those with
// the digest first.
func similar(apis []wire.API, sum, title string) []wire.API {
	var same, titled []wire.API
	for _, api := range apis {
		switch {
		case api.SHA256 == sum:
			same = append(same, api)
		case title != "" && api.Title == title:
			titled = append(titled, api)
		}
	}
	all := slices.Concat(same, titled)
	return all[:min(maxSimilar, len(all))]
}

// alike says what an API has in common with the description of digest sum.
func alike(api wire.API, sum string) string {
	if api.SHA256 == sum {
		return "the same description"
	}
	return "the same title"
}

// offerAPI asks a terminal whether to use an API of the account that is like the one that
// would be registered. What is wrong is reported by the creation.
func (c *create) offerAPI(ctx context.Context) (stopped bool, err error) {
	if c.app.Strict() || !c.answers.API.IsZero() || c.readStack(ctx) != nil {
		return false, nil
	}
	client, err := c.local.Client()
	if err != nil || client.API.Present() {
		return false, nil
	}
	schema, err := client.Schema()
	if err != nil || schema.URL != "" {
		return false, nil
	}
	read, err := app.ReadDescription(schema)
	if err != nil {
		return false, nil
	}
	hub, err := c.app.Connect()
	if err != nil {
		return false, nil
	}
	apis, err := hub.APIs(ctx, c.project.Account())
	if err != nil || len(apis) == 0 {
		return false, nil
	}
	digest := sha256.Sum256(read.Text)
	sum := hex.EncodeToString(digest[:])
	found := similar(apis, sum, apisource.Title(read.Text))
	if len(found) == 0 {
		return false, nil
	}
	err = c.app.UI.Ask(ctx, c.apiStep(found, sum, schema.File))
	if errors.Is(err, prompts.ErrStop) || errors.Is(err, prompts.ErrBack) {
		return true, nil
	}
	return false, err
}

const registerAnew = "register"

// apiStep asks which of the APIs to use, if any.
func (c *create) apiStep(found []wire.API, sum, file string) prompts.Step {
	q := prompts.Question{Title: fmt.Sprintf("Register %s as a new API?", file), Preset: registerAnew}
	for _, api := range found {
		text := fmt.Sprintf("Use %s, which has %s", api.API, alike(api, sum))
		q.Choices = append(q.Choices, prompts.Choice{Value: api.API.String(), Text: text})
	}
	if found[0].SHA256 == sum {
		q.Preset = found[0].API.String()
	}
	q.Choices = append(q.Choices, prompts.Choice{Value: registerAnew, Text: "Register a new API in " + c.project.Account()})
	return prompts.Step{
		Question: func() prompts.Question { return q },
		Take: func(answer string) {
			if answer != registerAnew {
				c.answers.API, _ = ref.Parse(answer)
			}
		},
	}
}

// noteSimilar notes in a pipeline, where nothing is asked, that an API like the registered
// one exists already.
func (c *create) noteSimilar(ctx context.Context, registered *wire.API) {
	if !c.app.Strict() {
		return
	}
	apis, err := c.hub.APIs(ctx, registered.API.Account())
	if err != nil {
		return
	}
	apis = slices.DeleteFunc(apis, func(a wire.API) bool { return a.API == registered.API })
	found := similar(apis, registered.SHA256, registered.Title)
	if len(found) == 0 {
		return
	}
	edit := cmdline.Tool("project", "edit").With(c.project.String()).Flag("--api", found[0].API.String())
	c.result.note([]string{fmt.Sprintf("%s has %s; to use it instead of %s: %s",
		found[0].API, alike(found[0], registered.SHA256), registered.API, c.app.CommandText(edit))})
}
