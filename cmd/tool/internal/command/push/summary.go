package push

import (
	"time"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient"
)

// summary prints the pushes of a watch, and counts what they did.
type summary struct {
	push   *push
	began  bool // the first push went through
	pushes int  // that changed something
	files  int  // added, changed and removed
	bytes  int64

	stop      func() // ends the watch
	unwritten error  // why stdout took no line
}

// report prints the first push like any other, and a line for each that follows.
func (s *summary) report(r *Result, err error) {
	s.push.transfer.Hide()
	out, now := s.push.app.Printer(), time.Now().Format(time.TimeOnly)
	switch {
	case err != nil:
		s.push.app.Diagnose("%s not pushed: %v", now, err)
		return
	case r == nil:
		return // nothing changed
	case !s.began:
		s.push.pushedText(out)
		out.Line("  watching; ctrl-c ends it")
	default:
		f := r.FilesResult
		out.Line("%s pushed: %d added, %d changed, %d removed; %s sent", now, f.Added, f.Changed, f.Removed, app.Bytes(f.Bytes))
	}
	if err := out.Err(); err != nil {
		s.unwritten = err
		s.stop()
	}
	s.began = true
	changed := 0
	if f := r.FilesResult; f != nil {
		changed = f.Added + f.Changed + f.Removed
		s.files += changed
		s.bytes += f.Bytes
	}
	if changed > 0 || r.ConfigChanged {
		s.pushes++
	}
}

// end prints what a watch did that ctrl-c has ended.
func (s *summary) end(err error) error {
	out := s.push.app.Printer()
	out.Line("Stopped watching: %s, %s, %s sent", app.Count(s.pushes, "push", "pushes"),
		app.Count(s.files, "file changed", "files changed"), app.Bytes(s.bytes))
	if hubclient.Unsettled(err) {
		out.Notes([]string{"what was being sent may have been applied"})
	}
	return out.Err()
}
