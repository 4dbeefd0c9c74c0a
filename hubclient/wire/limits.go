package wire

// Description is the part of a hub's OpenAPI description that a client needs.
type Description struct {
	Info struct {
		Limits Limits `json:"x-limits"`
	} `json:"info"`
}

// Limits bound what a hub accepts in a push; 0 means no limit. Sizes are bytes.
type Limits struct {
	ConfigBytes    int64 `json:"configBytes"`
	ConfigKeys     int   `json:"configKeys"`
	ConfigDepth    int   `json:"configDepth"`
	BaseFiles      int   `json:"baseFiles"`
	BaseFileBytes  int64 `json:"baseFileBytes"`
	BaseFilesBytes int64 `json:"baseFilesBytes"`
}
