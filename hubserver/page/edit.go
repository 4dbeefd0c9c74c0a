package page

// The steps of an edit without JavaScript.
const (
	EditForm     = "form"
	EditReview   = "review"
	EditConflict = "conflict"
	EditSaved    = "saved"
)

// Edit is the page that edits one key of a config, for browsers without JavaScript. The
// values Was, Text and Theirs are JSON texts, "" where there is none.
type Edit struct {
	Project
	Step     string
	Key      string
	KeyText  string // Key as a JSON text; "" for a key that is being added
	Base     string // the revision that was edited
	Was      string // the value of that revision
	Text     string // the value that is to be saved
	Type     string
	Value    string // what was typed, or is to be shown
	Refused  string // why the edit cannot be saved
	Theirs   string // the value that somebody else saved since
	TheirsBy string
}

// EditType is a type of values.
type EditType struct{ Value, Name string }

// Types lists the types of values.
func (e Edit) Types() []EditType {
	return []EditType{{"text", "Text"}, {"number", "Number"}, {"boolean", "True/false"}, {"list", "List (JSON)"}, {"null", "Null"}, {"object", "Empty object"}}
}

// Kind says what the edit does to the key: added, changed or removed.
func (e Edit) Kind() string {
	switch {
	case e.Text == "":
		return "removed"
	case e.Was == "":
		return "added"
	}
	return "changed"
}

// Render returns the page.
func (e Edit) Render() ([]byte, error) { return render("edit", e) }
