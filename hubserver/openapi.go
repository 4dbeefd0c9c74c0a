package hubserver

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// contract is the OpenAPI description of every hub. It is generated from
// [wire.Endpoints] and openapi.source.json.
//
//go:generate go test -run ^TestOpenAPI_IsGenerated$ . -args -update
//go:embed openapi.json
var contract []byte

// document is a description in the order in which it is read.
type document struct {
	OpenAPI    string         `json:"openapi"`
	Info       info           `json:"info"`
	Servers    []server       `json:"servers"`
	Tags       jsontext.Value `json:"tags"`
	Security   jsontext.Value `json:"security"`
	Paths      jsontext.Value `json:"paths"`
	Components jsontext.Value `json:"components"`
}

type info struct {
	Title       string          `json:"title"`
	Version     string          `json:"version"`
	Summary     string          `json:"summary"`
	Description string          `json:"description"`
	Limits      publishedLimits `json:"x-limits"`
}

type server struct {
	URL string `json:"url"`
}

// publishedLimits are the limits that this hub runs with.
type publishedLimits struct {
	ConfigBytes      int64   `json:"configBytes"`
	ConfigKeys       int     `json:"configKeys"`
	ConfigDepth      int     `json:"configDepth"`
	DescriptionBytes int64   `json:"descriptionBytes"`
	BundleBytes      int64   `json:"bundleBytes"`
	BaseFiles        int     `json:"baseFiles"`
	BaseFileBytes    int64   `json:"baseFileBytes"`
	BaseFilesBytes   int64   `json:"baseFilesBytes"`
	PlanBytes        int64   `json:"planBytes"`
	PathBytes        int     `json:"pathBytes"`
	BodyIdleSeconds  float64 `json:"bodyIdleSeconds"`
	MinBytesPerIdle  int64   `json:"minBytesPerIdle"`
	ZstdWindowBytes  int64   `json:"zstdWindowBytes"`
	MemoryBytes      int64   `json:"memoryBytes"`

	RequestsPerCaller publishedRequests `json:"requestsPerCaller"`
}

// publishedRequests is how many requests of one caller are worked on at once.
type publishedRequests struct {
	Changes      int `json:"changes"`
	Views        int `json:"views"`
	Downloads    int `json:"downloads"`
	Uploads      int `json:"uploads"`
	Descriptions int `json:"descriptions"`
}

// describe returns the contract with what is particular to a hub: its address and its limits.
func describe(publicURL string, l Limits) ([]byte, error) {
	var d document
	if err := json.Unmarshal(contract, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	d.Servers = []server{{publicURL}}
	d.Info.Limits = publishedLimits{
		ConfigBytes: l.ConfigBytes, ConfigKeys: l.ConfigKeys, ConfigDepth: l.ConfigDepth,
		DescriptionBytes: l.DescriptionBytes, BundleBytes: l.BundleBytes,
		BaseFiles: l.BaseFiles, BaseFileBytes: l.BaseFileBytes, BaseFilesBytes: l.BaseFilesBytes, PlanBytes: l.PlanBytes, PathBytes: tree.MaxPath,
		BodyIdleSeconds: float64(l.BodyIdle) / float64(time.Second),
		MinBytesPerIdle: minRate, ZstdWindowBytes: maxWindow, MemoryBytes: l.Memory,
		RequestsPerCaller: publishedRequests{
			Changes: shares[changing].perCaller, Views: shares[viewing].perCaller, Downloads: shares[downloading].perCaller,
			Uploads: shares[uploading].perCaller, Descriptions: shares[describing].perCaller,
		},
	}
	return wire.Encode(d)
}

func (s *Server) openAPI(c *call) error {
	return c.write(http.StatusOK, "application/json", s.description)
}
