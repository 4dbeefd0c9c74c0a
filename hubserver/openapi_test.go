package hubserver_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

var update = flag.Bool("update", false, "rewrite openapi.json, and take the pictures of pages")

// TestMain fails a whole run in which some answer that is documented was never
// given, besides those that only a failing hub gives.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400) // a tenth of the time would go into collecting what a few hubs have
	// The coders of frames are made once for a process, with channels: one that a test
	// in a bubble made could not be used outside of it.
	if _, err := store.Decompress(nil, store.Compress(nil), 0); err != nil {
		panic(err)
	}
	code := m.Run()
	whole := true
	for _, name := range []string{"run", "skip", "fuzz", "bench", "list"} {
		whole = whole && !testing.Short() && flag.Lookup("test."+name).Value.String() == ""
	}
	if missing := theContract().unseen(); code == 0 && whole && len(missing) > 0 {
		fmt.Printf("FAIL: documented, but never answered:\n\t%s\n", strings.Join(missing, "\n\t"))
		code = 1
	}
	os.Exit(code)
}

// unseen lists the documented answers below 500 that no test provoked.
func (c *contract) unseen() (missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.operations {
		responses, _ := c.object(op.at + "/responses")
		for status, response := range responses {
			answer := fmt.Sprintf("%s %s %s", op.method, op.path, status)
			isRace := cmp.Equal(response, refTo("responses", "OtherResource")) // package request has a test of it
			if status < "500" && status != "429" &&                            // how busy a hub is decides these
				!isRace && !c.seen[answer] {
				missing = append(missing, answer)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

func TestOpenAPI_IsValid(t *testing.T) {
	hub := one(t, func(cfg *hubserver.Config) {
		cfg.Limits.ConfigBytes, cfg.Limits.BodyIdle = 4711,
			1500*time.Millisecond
	})
	a := hub.with("").get("/v1/openapi.json").want(200)
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(a.body)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(loader.Context); err != nil {
		t.Error(err)
	}
	if doc.OpenAPI != "3.1.0" || len(doc.Servers) != 1 || doc.Servers[0].URL != publicURL {
		t.Errorf("OpenAPI %s of %+v", doc.OpenAPI, doc.Servers)
	}
	limits := doc.Info.Extensions["x-limits"].(map[string]any)
	want := map[string]any{
		"configBytes": 4711.0, "configKeys": 10_000.0, "configDepth": 32.0, "descriptionBytes": 16.0 * (1 << 20),
		"bundleBytes": 64.0 * (1 << 20),
		"baseFiles":   20_000.0, "baseFileBytes": 25.0 * (1 << 20), "baseFilesBytes": 1.0 * (1 << 30),
		"planBytes": 16.0 * (1 << 20), "pathBytes": 1024.0, "bodyIdleSeconds": 1.5,
		"minBytesPerIdle": 64.0 * (1 << 10), "zstdWindowBytes": 8.0 * (1 << 20), "memoryBytes": 128.0 * (1 << 20),
	}
	if diff := cmp.Diff(want, limits); diff != "" {
		t.Error(diff)
	}
	file, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	served, own := asJSON(t, a.body), asJSON(t, file)
	delete(served, "servers")
	delete(served["info"].(map[string]any), "x-limits")
	if diff := cmp.Diff(own, served); diff != "" {
		t.Errorf("what is served differs from the file: %s", diff)
	}
}

func TestOpenAPI_StatesConfiguredLimits(t *testing.T) {
	hub := one(t, nil)
	text := string(hub.with("").get("/v1/openapi.json").want(200).body)
	l := hubserver.DefaultLimits
	for _, bytes := range []int64{l.ConfigBytes, l.DescriptionBytes, l.BundleBytes, l.BaseFileBytes, l.BaseFilesBytes} {
		if stated := " " + humanize.IBytes(uint64(bytes)); strings.Contains(text, stated) {
			t.Errorf("it says%s", stated)
		}
	}
	for _, n := range []int{l.ConfigKeys, l.BaseFiles} {
		if stated := humanize.Comma(int64(n)); strings.Contains(text, stated) {
			t.Errorf("it says %s", stated)
		}
	}
}

func asJSON(t *testing.T, data []byte) map[string]any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

func TestOpenAPI_MatchesRoutes(t *testing.T) {
	var described []string
	ids := map[string]bool{}
	for _, op := range theContract().operations {
		described = append(described, op.method+" "+op.path)
		o, _ := theContract().object(op.at)
		id, _ := o["operationId"].(string)
		if tags, _ := o["tags"].([]any); id == "" || ids[id] || len(tags) != 1 || o["summary"] == nil {
			t.Errorf("%s %s has no id of its own, no tag or no summary", op.method, op.path)
		}
		ids[id] = true
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(routes())), slices.Sorted(slices.Values(described))); diff != "" {
		t.Error(diff)
	}
	o, _ := theContract().object(pointer("paths", "/v1/rate-limit", "post"))
	if diff := cmp.Diff([]any{"rate-limiter-config-controller"}, o["tags"]); diff != "" {
		t.Error(diff)
	}
}

func TestOpenAPI_ListsEveryCode(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../hubclient/wire/problem.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var codes []any
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(block.Doc.Text(), "Codes that a hub answers") {
			continue
		}
		for _, spec := range block.Specs {
			code, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, code)
		}
	}
	schema, _ := theContract().object("/components/schemas/Code")
	less := func(a, b any) int { return strings.Compare(a.(string), b.(string)) }
	described := slices.SortedFunc(slices.Values(schema["enum"].([]any)), less)
	slices.SortFunc(codes, less)
	if diff := cmp.Diff(codes, described); diff != "" || len(codes) < 30 {
		t.Errorf("%d codes: %s", len(codes), diff)
	}
}

func TestOpenAPI_ExamplesFitSchemas(t *testing.T) {
	c := theContract()
	count := 0
	var walk func(v any, at string)
	walk = func(v any, at string) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		if example, ok := m["example"]; ok && m["schema"] != nil {
			count++
			if err := c.validate(at+"/schema", example); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(m)) {
			walk(m[key], at+pointer(key))
		}
	}
	walk(c.root["paths"], "/paths")
	walk(c.root["components"], "/components")
	if t.Logf("%d examples", count); count < 15 {
		t.Errorf("only %d examples", count)
	}
}

func TestContract_DetectsUndescribedResponses(t *testing.T) {
	good := func() *exchange {
		hub := one(t, nil)
		a := hub.as("alice").get("/v1/whoami").want(200)
		return &exchange{method: "GET", path: "/v1/whoami", header: map[string][]string{"Authorization": {"x"}}, status: 200,
			answerHeader: a.header, answer: a.body}
	}
	x := good()
	if errs := theContract().check(x); len(errs) > 0 {
		t.Fatal(errs)
	}
	for name, change := range map[string]func(*exchange){
		"an unknown path":      func(x *exchange) { x.path = "/v1/who" },
		"an unknown method":    func(x *exchange) { x.method = "PUT" },
		"an unknown status":    func(x *exchange) { x.status = 202 },
		"an unknown header":    func(x *exchange) { x.answerHeader.Set("X-New", "1") },
		"a header that's gone": func(x *exchange) { x.answerHeader.Del("Hub-Version") },
		"another media type":   func(x *exchange) { x.answerHeader.Set("Content-Type", "text/html") },
		"an unknown member": func(x *exchange) {
			x.answer = bytes.Replace(x.answer, []byte(`{"user"`),
				[]byte(`{"new":1,"user"`), 1)
		},
		"an unknown deep member": func(x *exchange) {
			x.answer = bytes.Replace(x.answer, []byte(`{"account"`), []byte(`{"new":1,"account"`), 1)
		},
		"a member that's gone": func(x *exchange) {
			x.answer = bytes.Replace(x.answer, []byte(`"tokenName":"test",`), nil,
				1)
		},
		"no JSON":              func(x *exchange) { x.answer = []byte("{") },
		"no token":             func(x *exchange) { x.header = nil },
		"an unknown parameter": func(x *exchange) { x.query = map[string][]string{"q": {"1"}} },
	} {
		x := good()
		if change(x); len(theContract().check(x)) == 0 {
			t.Errorf("%s goes unnoticed", name)
		}
	}
}
