// Package preview is the frame in which the hub's page shows an app: a static document of
// opaque origin, the program that runs in it, and the packages that an app may import. The
// program's sources are in src, and ../build.mjs makes dist of them.
//
// It knows no project, no caller and no route: all that the frame shows is sent to it by
// the page around it. It imports nothing of the hub's, because tool serves the same frame.
package preview

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"net/http"
	"sync"
)

//go:embed dist/frame.html.gz
var frame []byte

// scripts are the two that the frame's policy allows.
//
//go:embed dist/SCRIPTS
var scripts string

//go:embed dist/packages.json.gz
var packages []byte

// sources is the digest of what both are built from.
//
//go:embed dist/SOURCES
var sources string

// File is a static file.
type File struct {
	Name    string // changes with its content
	Gzipped []byte
	Content func() []byte // the file without compression; all callers share the bytes
}

// newFile returns a file that is inflated once, at the first call of Content: inflated for each
// request, a few hundred responses to slow readers would fill the memory.
func newFile(name string, gzipped []byte) File {
	return File{name, gzipped, sync.OnceValue(func() []byte {
		z, err := gzip.NewReader(bytes.NewReader(gzipped))
		if err != nil {
			panic(err) // it is embedded
		}
		content, err := io.ReadAll(z)
		if err != nil {
			panic(err)
		}
		return content
	})}
}

// Frame is the document of the frame, with its program in it, the same for everyone.
var Frame = newFile("frame-"+sources[:12]+".html", frame)

// Packages is the JSON of the packages that an app may import. The hub's own host serves
// it, as /static/NAME.
var Packages = newFile("packages-"+sources[:12]+".json", packages)

// SetHeader sets the header with which the frame is served to a page of the origin hub. The
// policy lets two scripts run, the frame's program and that of the app's own frame, and nothing
// be loaded: an app is data, which these evaluate. It holds in every frame within, too.
func SetHeader(header http.Header, hub string) {
	header.Set("Content-Security-Policy",
		"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-eval' "+scripts+"; "+
			"style-src 'unsafe-inline'; img-src blob: data:; font-src blob: data:; media-src blob: data:; "+
			"worker-src blob:; child-src blob:; "+
			"frame-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'; webrtc 'block'; "+
			"frame-ancestors "+hub)
	header.Set("Connection-Allowlist", "()") // what a policy does not cover: names that are looked up, WebRTC
	header.Set("X-DNS-Prefetch-Control", "off")
	header.Set("Permissions-Policy", permissions)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin") // the page is of another origin
}

// permissions are the features of browsers that an app cannot ask for.
const permissions = "accelerometer=(), ambient-light-sensor=(), attribution-reporting=(), autoplay=(), bluetooth=(), " +
	"browsing-topics=(), camera=(), clipboard-read=(), clipboard-write=(), compute-pressure=(), display-capture=(), " +
	"encrypted-media=(), fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), " +
	"idle-detection=(), local-fonts=(), magnetometer=(), microphone=(), midi=(), otp-credentials=(), payment=(), " +
	"picture-in-picture=(), publickey-credentials-create=(), publickey-credentials-get=(), screen-wake-lock=(), " +
	"serial=(), speaker-selection=(), storage-access=(), usb=(), web-share=(), window-management=(), " +
	"xr-spatial-tracking=()"
