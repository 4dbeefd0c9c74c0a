package wire

// StartDevice is the body of POST /v1/device, with which a terminal asks for a token
// that a user approves in a browser (the shape of RFC 8628).
type StartDevice struct {
	Client string `json:"client,omitzero"` // what the terminal calls itself, such as tool on laptop
}

// Device is a terminal that waits for its token.
type Device struct {
	DeviceCode              string `json:"deviceCode"`              // the terminal's secret
	UserCode                string `json:"userCode"`                // that the user compares
	VerificationURI         string `json:"verificationUri"`         // the page that asks for the code
	VerificationURIComplete string `json:"verificationUriComplete"` // the same, with the code
	ExpiresIn               int    `json:"expiresIn"`               // seconds
	Interval                int    `json:"interval"`                // seconds between two polls
}

// DeviceCode is the body of POST /v1/device/token.
type DeviceCode struct {
	DeviceCode string `json:"deviceCode"`
}

// DeviceToken is the token of a terminal that was approved.
type DeviceToken struct {
	Token string `json:"token"`
}
