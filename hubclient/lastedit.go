package hubclient

import (
	"context"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// LastEdit is the newest write of a project, with what it replaced: of its config, of its base
// files, or of both if one push wrote both.
type LastEdit struct {
	Config    *wire.ConfigEntry    // nil: it wrote no config
	BaseFiles *wire.BaseFilesEntry // nil: it wrote no base files
}

// LastEdit returns the newest write of a project; both of its parts are nil if there was none.
func (c *Client) LastEdit(ctx context.Context, r ref.Ref) (last LastEdit, err error) {
	configs, _, err := c.configHistory(ctx, r, "", 1)
	if err != nil {
		return last, err
	}
	files, err := c.BaseFilesHistory(ctx, r)
	if err != nil {
		return last, err
	}
	if len(configs.Entries) > 0 {
		last.Config = &configs.Entries[0]
	}
	if len(files) > 0 {
		last.BaseFiles = &files[0]
	}
	switch config, set := last.Config, last.BaseFiles; {
	case config == nil || set == nil || config.Push != "" && config.Push == set.Push:
	case config.Number > set.Number:
		last.BaseFiles = nil
	default:
		last.Config = nil
	}
	return last, nil
}

// Edit says who made the edit, when and how.
func (e LastEdit) Edit() wire.Edit {
	switch {
	case e.Config != nil:
		return e.Config.Edit
	case e.BaseFiles != nil:
		set := e.BaseFiles
		return wire.Edit{Revision: set.Tree, UpdatedAt: set.UpdatedAt, UpdatedBy: set.UpdatedBy, UpdatedVia: set.UpdatedVia}
	}
	return wire.Edit{}
}
