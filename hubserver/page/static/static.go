// Package static embeds the style sheet and the scripts that pages refer to, most of which build.mjs made. It has no
// other content and imports nothing of the hub's, because tool serves some of them too.
package static

import "embed"

// Files are all of them.
//
//go:embed icon.svg llms.txt dist preview
var Files embed.FS

// Preview are those that show a preview on a page that is not the hub's.
//
//go:embed icon.svg dist/style.css preview/host.js preview/messages.js preview/view.js
var Preview embed.FS
