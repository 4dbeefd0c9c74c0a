package hubserver

import (
	_ "embed"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/request"
)

// contract is the OpenAPI description of every hub, generated from [Endpoints] and
// openapi.source.json.
//
//go:generate go test -run ^TestOpenAPI_IsGenerated$ . -args -update
//go:embed openapi.json
var contract []byte

// document is a description in the order in which it is read.
type document struct {
	OpenAPI    string              `json:"openapi"`
	Info       info                `json:"info"`
	Servers    []map[string]string `json:"servers"`
	Tags       jsontext.Value      `json:"tags"`
	Security   jsontext.Value      `json:"security"`
	Paths      jsontext.Value      `json:"paths"`
	Components jsontext.Value      `json:"components"`
}

type info struct {
	Title       string          `json:"title"`
	Version     string          `json:"version"`
	Summary     string          `json:"summary"`
	Description string          `json:"description"`
	Limits      publishedLimits `json:"x-limits"`
}

// publishedLimits are the limits that this hub runs with.
type publishedLimits struct {
	request.Limits
	PlanBytes       int64   `json:"planBytes"`
	PathBytes       int     `json:"pathBytes"`
	BodyIdleSeconds float64 `json:"bodyIdleSeconds"`
	MinBytesPerIdle int64   `json:"minBytesPerIdle"`
	ZstdWindowBytes int64   `json:"zstdWindowBytes"`
	MemoryBytes     int64   `json:"memoryBytes"`
}

// describe returns the contract with what is particular to a hub: its address and its limits.
func describe(publicURL string, l Limits) ([]byte, error) {
	var d document
	if err := json.Unmarshal(contract, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	d.Servers = []map[string]string{{"url": publicURL}}
	d.Info.Limits = publishedLimits{
		Limits: l, PlanBytes: request.MaxPlan, PathBytes: tree.MaxPath, BodyIdleSeconds: l.BodyIdle.Seconds(),
		MinBytesPerIdle: request.MinRate, ZstdWindowBytes: api.MaxWindow, MemoryBytes: l.Memory,
	}
	return wire.Encode(d)
}
