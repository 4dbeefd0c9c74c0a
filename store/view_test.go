package store_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/store"
)

// reads are the methods of View. One that writes belongs to Tx.
var reads = strings.Fields(`
	API APIs Account Accounts Admission AuditRows Bearer Bots Bundle
	Config ConfigEntryOf ConfigHistory ConfigRevision ConfigSize
	BlobReader Blobs Bot BotTokens Certificate Damaged DamagedFiles Deleted DeletedProjects Device Document FileChanges FileHistory FilesUndo
	Findings FirstAnswer Followers FormerTree HasBlobs IsPublic Link
	Members MembersOf MembershipsOf Now Piece Project ProjectState Projects ProjectsUsing RateLimit RateUsage RoleOf Schema SchemaSize Sessions SignedIn Snapshot
	SnapshotDigest SnapshotSize Stack
	StackVersion Tokens ValidTokens VisibleProjects`)

func TestView_HasNoMethodThatWrites(t *testing.T) {
	view, tx := reflect.TypeFor[*store.View](), reflect.TypeFor[*store.Tx]()
	var got []string
	for m := range view.Methods() {
		got = append(got, m.Name)
	}
	got = slices.DeleteFunc(got, func(name string) bool { return slices.Contains(reads, name) || inTests[name] })
	if len(got) > 0 {
		t.Errorf("View has the methods %v: those that write belong to Tx, the others to this test's list", got)
	}
	for _, name := range reads {
		if _, ok := view.MethodByName(name); !ok {
			t.Errorf("View has no method %s", name)
		}
		if _, ok := tx.MethodByName(name); !ok {
			t.Errorf("Tx cannot %s as View can", name)
		}
	}
	if view.ConvertibleTo(tx) {
		t.Error("a View can be converted to a Tx, which writes")
	}
}

// inTests are the methods that export_test.go adds.
var inTests = map[string]bool{"AskWrongly": true, "BlobDigests": true, "LargestPack": true, "Packs": true, "Setting": true}
