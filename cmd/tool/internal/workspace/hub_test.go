package workspace_test

import (
	"testing"

	"example.com/projecthub/cmd/tool/internal/failure"
)

const hubJSON = ".tool/hub.json"

func TestHub_IsTheOriginInHubJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"origin": "https://HUB.example.com/"}`:                         "https://hub.example.com",
		"\ufeff{\"$schema\": \"x\", \"origin\": \"http://127.0.0.1:1\"}": "http://127.0.0.1:1",
	} {
		w := newWorkspace(t, map[string]string{hubJSON: text})
		if got, err := w.Hub(); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		if names, err := w.Projects(); err != nil || len(names) != 0 {
			t.Errorf("hub.json is a project: %v, %v", names, err)
		}
	}
	w := newWorkspace(t, map[string]string{stackJSON: "{}"})
	if got, err := w.Hub(); err != nil || got != "" {
		t.Errorf("without hub.json: %q, %v", got, err)
	}
}

func TestHub_ErrorsHavePositions(t *testing.T) {
	for text, reason := range map[string]string{
		"":                      ":1:1: the file is empty",
		"{\n  \"origin\": 7\n}": ":2:13: origin is a number: a string was expected",
		"{\n  \"origin\": \"hub.example.com\"\n}": ":2:13: origin is not of the form http://HOST[:PORT]",
		`{"origin": "https://hub/path"}`:          ":1:12: origin is more than an origin",
		`{"orgin": "https://hub"}`:                `:1:1: no "origin"`,
		"{\n<<<<<<< HEAD\n":                       ":2:1: git conflict markers",
		`{"origin": "https://a", }`:               ":1:",
	} {
		_, err := newWorkspace(t, map[string]string{hubJSON: text}).Hub()
		wantFault(t, err, failure.CodeInvalidFile, hubJSON+reason)
	}
}

func TestFillHub_LeavesAHubThatIsRecorded(t *testing.T) {
	w := newWorkspace(t, map[string]string{stackJSON: "{}"})
	if written, err := w.RecordHub("https://a.example.com", true); err != nil || !written {
		t.Errorf("%v, %v", written, err)
	}
	if written, err := w.RecordHub("https://b.example.com", true); err != nil || written {
		t.Errorf("%v, %v", written, err)
	}
	if got, want := read(t, w.Dir, hubJSON),
		"{\n  \"$schema\": \"https://a.example.com/schema/hub.json\",\n  \"origin\": \"https://a.example.com\"\n}\n"; got != want {
		t.Errorf("hub.json is %s, want %s", got, want)
	}
}

func TestSetHub_KeepsOtherMembers(t *testing.T) {
	w := newWorkspace(t, map[string]string{hubJSON: "{\n\t\"$schema\": \"x\",\n\t\"origin\": \"https://a.example.com\" }"})
	if changed, err := w.RecordHub("https://b.example.com", false); err != nil || !changed {
		t.Errorf("%v, %v", changed, err)
	}
	if got, want := read(t, w.Dir, hubJSON),
		"{\n\t\"$schema\": \"x\",\n\t\"origin\": \"https://b.example.com\" }"; got != want {
		t.Errorf("hub.json is %s, want %s", got, want)
	}
}
