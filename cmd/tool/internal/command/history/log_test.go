package history

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"example.com/projecthub/hubclient/wire"
)

func TestLog_TakesTwoLinesOnNarrowTerminals(t *testing.T) {
	edit := func(by string, via wire.Via) wire.Edit {
		return wire.Edit{Revision: strings.Repeat("ab", 32), UpdatedAt: time.Now(), UpdatedBy: by, UpdatedVia: via}
	}
	rows := [][]string{
		row(wire.ConfigEntry{Number: 12, Edit: edit("alice", wire.ViaPush), Added: 1, Changed: 2, Removed: 3}),
		append(row(wire.ConfigEntry{Number: 3, Edit: edit("bob", wire.ViaCreate), Added: 12}), "3 files, 418 B"),
	}
	if tooWide(rows, 120) || !tooWide(rows, 40) {
		t.Error("the columns do not fit into 120 columns, or fit into 40")
	}
	lines := inTwoLines(rows)
	if len(lines) != 4 || lines[0] != "r12  abababababab  just now  alice  push" ||
		!strings.HasSuffix(lines[1], "  +1 ~2 -3") ||
		lines[2] != "r3  abababababab  just now  bob  create" || !strings.HasSuffix(lines[3], "  +12 ~0 -0  3 files, 418 B") {
		t.Errorf("%q", lines)
	}
	for _, line := range lines[:3] {
		if n := utf8.RuneCountInString(line); n > 40 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestLog_FitsWhereTheLongestCellsDo(t *testing.T) {
	rows := [][]string{{"12345", "1"}, {"1", "12345"}}
	if tooWide(rows, 12) || !tooWide(rows, 11) {
		t.Error("two columns of 5 and two spaces between them are 12 wide")
	}
}
