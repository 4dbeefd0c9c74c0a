package schema_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"example.com/projecthub/hubserver/schema"
)

// The public test suite of draft 2020-12. The hub loads no other schema, so that it refuses those that refer
// to one.
func TestValidate_PassesTheTestSuite(t *testing.T) {
	file, err := os.Open("testdata/draft2020-12.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	passed, refused := 0, 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var group struct {
			Keyword, Description string
			Schema               json.RawMessage
			Tests                []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &group); err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(group.Schema); err != nil {
			if refused++; !strings.Contains(err.Error(), "nothing is fetched") {
				t.Errorf("%s: %s: %v", group.Keyword, group.Description, err)
			}
			continue
		}
		for _, test := range group.Tests {
			findings, err := schema.Validate(group.Schema, test.Data)
			if passed++; err != nil || (len(findings) == 0) != test.Valid {
				t.Errorf("%s: %s: %s: %v %v", group.Keyword, group.Description, test.Description, findings, err)
			}
		}
	}
	if lines.Err() != nil || passed < 1000 || refused > 40 {
		t.Errorf("%d tests passed, %d schemas were refused, %v", passed, refused, lines.Err())
	}
	t.Logf("%d tests passed, %d schemas were refused", passed, refused)
}
