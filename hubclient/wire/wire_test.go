package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/wire"
)

func TestDecode_SyntaxErrorHasOffset(t *testing.T) {
	for text, offset := range map[string]int64{
		``:                            0,
		`{`:                           1,
		`{"account":"a",}`:            14,
		`{"account":"a"} x`:           16,
		`{"account":"a"}{}`:           15,
		`{"account":"a","account":1}`: 15,
		"{\"account\":\"\xff\"}":      12,
		`{"account":"\ud800"}`:        12,
		"\ufeff{}":                    0,
		`{/* c */}`:                   1,
	} {
		var v wire.CreateProject
		err := wire.Decode([]byte(text), &v)
		var syntax *wire.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Decode(%q): %v, want a SyntaxError", text, err)
		} else if syntax.Offset != offset {
			t.Errorf("Decode(%q) blames byte %d, want %d", text, syntax.Offset, offset)
		}
	}
}

func TestDecode_ShapeErrorHasPointer(t *testing.T) {
	for text, pointer := range map[string]string{
		`[]`:                                 "",
		`null`:                               "",
		`"x"`:                                "",
		`{"owner":"a"}`:                      "/owner",
		`{"ACCOUNT":"a"}`:                    "/ACCOUNT",
		`{"account":1}`:                      "/account",
		`{"api":{"account":"A","slug":"b"}}`: "/api",
		`{"api":{"account":"a","slug":"b","x":1}}`: "/api/x",
	} {
		var v wire.CreateProject
		err := wire.Decode([]byte(text), &v)
		var shape *wire.ShapeError
		if !errors.As(err, &shape) {
			t.Errorf("Decode(%s): %v, want a ShapeError", text, err)
		} else if shape.Pointer != pointer {
			t.Errorf("Decode(%s) blames %q, want %q: %v", text, shape.Pointer, pointer, err)
		}
	}
}

func TestRateLimitConfig_RequiresWholeNumbers(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"minuteLimit":5}`: true, `{"minuteLimit":null}`: true, `{}`: true, `{"minuteLimit":-1}`: true,
		// the sign is the hub's business
		`{"minuteLimit":1.5}`: false, `{"minuteLimit":1e3}`: false, `{"minuteLimit":"5"}`: false,
		`{"minuteLimit":99999999999999999999}`: false, `{"secondLimit":1}`: false,
	} {
		var v wire.RateLimitConfig
		if err := wire.Decode([]byte(text), &v); (err == nil) != ok {
			t.Errorf("Decode(%s): %v", text, err)
		}
	}
}

func TestDecode_IgnoresUnknownMembersWhenAsked(t *testing.T) {
	var v wire.Deleted
	text := `{"project":{"account":"a","slug":"b"},"existed":true,"later":1}`
	if err := wire.Decode([]byte(text), &v, json.RejectUnknownMembers(false)); err != nil || !v.Existed {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestDecode_ErrorsAreShort(t *testing.T) {
	long := strings.Repeat("k", 100_000)
	for _, text := range []string{`{"` + long + `":1,"` + long + `":2}`, `{"a":{"` + long + `":}}`} {
		var v wire.PutConfig
		if err := wire.Decode([]byte(text), &v); err == nil || len(err.Error()) > 400 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{}`, `{"account":"a"}`, `{"api":null}`, `[1,{"a":"b"}]`, "\xff", `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v wire.CreateProject
		err := wire.Decode(data, &v)
		var syntax *wire.SyntaxError
		var shape *wire.ShapeError
		if err != nil && !errors.As(err, &syntax) && !errors.As(err, &shape) {
			t.Errorf("Decode(%q): %T %v", data, err, err)
		}
		if syntax != nil && (syntax.Offset < 0 || syntax.Offset > int64(len(data))) {
			t.Errorf("Decode(%q) blames byte %d", data, syntax.Offset)
		}
	})
}
