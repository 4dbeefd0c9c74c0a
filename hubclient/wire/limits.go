package wire

// Description is what a client needs of the OpenAPI document of a hub.
type Description struct {
	Info struct {
		Limits Limits `json:"x-limits"`
	} `json:"info"`
}

// Limits bound what a hub accepts in a push; 0 limits nothing. Sizes are bytes.
type Limits struct {
	ConfigBytes    int64 `json:"configBytes"`
	ConfigKeys     int   `json:"configKeys"`
	ConfigDepth    int   `json:"configDepth"`
	BaseFiles      int   `json:"baseFiles"`
	BaseFileBytes  int64 `json:"baseFileBytes"`
	BaseFilesBytes int64 `json:"baseFilesBytes"`
}
