package prompts

// Draw returns a screen as a form shows it, with what is said or refused about what
// is typed, and what is shown before.
func (t Terminal) Draw(s Screen, doing, say string, refuse error) (loading, form string) {
	c := &conversation{steps: []Step{{Doing: doing}}, terminal: t}
	loading = c.View()
	v, cmd := newView(s, t, true)
	if cmd != nil {
		v.update(cmd())
	}
	v.found(say, refuse)
	return loading, v.String()
}
