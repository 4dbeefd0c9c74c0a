package prompts

import (
	"context"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/tui"
)

// mergePlain asks in lines: conflict by conflict, each with its values.
func (p Prompter) mergePlain(ctx context.Context, q Merge) ([]flat.Side, error) {
	if p.Status != "" {
		p.say("%s", p.Status)
	}
	p.say("%s", q.Title)
	for _, fact := range q.Facts {
		p.say("%s", fact)
	}
	var sides []flat.Side
	for i, c := range q.Conflicts {
		p.say("Conflict %d of %d: %s", i+1, len(q.Conflicts), tui.Shorten(c.Key, plainWidth))
		base, mine, theirs := tui.ConflictValues(c, plainWidth)
		p.say("base: %s", valueOrNone(base))
		p.say("mine: %s", valueOrNone(mine))
		p.say("theirs: %s", valueOrNone(theirs))
		side, rest, err := p.sidePlain(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case side == nil:
			return nil, nil
		}
		sides = append(sides, *side)
		for rest && len(sides) < len(q.Conflicts) {
			sides = append(sides, *side)
		}
		if rest {
			break
		}
	}
	return sides, nil
}

// sidePlain asks until there is a side, nil if the person leaves. rest says that it is that
// of all conflicts that follow.
func (p Prompter) sidePlain(ctx context.Context, c flat.Conflict) (side *flat.Side, rest bool, err error) {
	mine, theirs := flat.Mine, flat.Theirs
	for {
		answer, err := p.line(ctx, "m mine, t theirs, M or T for all that are left, full, quit (default quit): ")
		if err != nil {
			return nil, false, err
		}
		switch answer {
		case "m", "mine":
			return &mine, false, nil
		case "t", "theirs":
			return &theirs, false, nil
		case "M":
			return &mine, true, nil
		case "T":
			return &theirs, true, nil
		case "", "q", "quit", "n", "no":
			return nil, false, nil
		case "f", "full":
			for _, v := range []flat.Entry{{Key: "base", Text: c.Base}, {Key: "mine", Text: c.Mine}, {Key: "theirs", Text: c.Theirs}} {
				p.say("%s: %s", v.Key, valueOrNone(tui.Shorten(v.Text, 8*len(v.Text)))) // without tokens
			}
		default:
			p.say("Please answer m, t, M, T, full or quit.")
		}
	}
}
