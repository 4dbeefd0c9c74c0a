package basefiles

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

func noBaseFiles(format string, args ...any) error {
	return failure.New(failure.CodeNoBaseFiles, format, args...).
		WithHint("settings.basePath says where the app is, and .toolignore what is left out; " +
			"to push an empty set, add --allow-empty")
}

// name returns the path in the workspace, quoted if it has special characters.
func (s *Selection) name(onDisk string) string {
	name := path.Join(s.root, onDisk)
	if strings.ContainsAny(name, " \"':") || !utf8.ValidString(name) || strings.ContainsFunc(name, tree.Unprintable) {
		return fmt.Sprintf("%q", name)
	}
	return name
}

func (s *Selection) unreadable(onDisk string, err error) error {
	e := failure.New(failure.CodeInvalidFile, "read %s: %w", s.name(onDisk), failure.Cause(err))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return e.WithHint("make it readable, or %s", s.remedy)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errReplaced):
		return e.WithHint("it changed while it was read: run the command again")
	}
	return e
}

// invalidPath returns the failure of a file whose path breaks a rule.
func (s *Selection) invalidPath(onDisk string, err error) error {
	why := err.Error()
	if broken, ok := errors.AsType[*tree.PathError](err); ok {
		why = broken.Why
	}
	return failure.New(failure.CodeInvalidFile, "invalid path %s: %s", s.name(onDisk), why).
		WithHint("rename it, or %s", s.remedy)
}

func (s *Selection) tooLarge(onDisk string, size int64) error {
	return failure.New(wire.CodeTooLarge, "%s is too large: it is %s, and a file may be at most %s",
		s.name(onDisk), mib(size), mib(s.limits.BaseFileBytes)).
		WithHint("%s", s.remedy)
}

func (s *Selection) tooMany(root *folder) error {
	e := failure.New(wire.CodeTooLarge, "more than %d files are selected, the most that a file set may contain",
		s.limits.BaseFiles).WithHint("%s", s.remedy)
	largest := 0 // files in the folder that the hint names
	for _, below := range root.entries {
		if n := below.count(); below.folder != nil && n > largest {
			largest = n
			e = e.WithHint("%s; %s contains most of them", s.remedy, s.name(below.OnDisk))
		}
	}
	return e
}

func (e entry) count() int {
	if e.folder == nil {
		return 1
	}
	n := 0
	for _, below := range e.folder.entries {
		n += below.count()
	}
	return n
}

func (s *Selection) changed(onDisk string) error {
	return failure.New(failure.CodeInvalidFile, "%s changed while it was sent", s.name(onDisk)).
		WithHint("run the command again")
}

// mib prints a size in MiB, rounded up, so that it never looks equal to a limit below it.
func mib(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	tenths := bytes>>20*10 + (bytes%(1<<20)*10+1<<20-1)>>20
	if tenths%10 == 0 {
		return fmt.Sprintf("%d MiB", tenths/10)
	}
	return fmt.Sprintf("%d.%d MiB", tenths/10, tenths%10)
}
