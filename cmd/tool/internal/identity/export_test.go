package identity

// MoveTo makes l save into dir.
func (l *Logins) MoveTo(dir string) { l.dir = dir }
