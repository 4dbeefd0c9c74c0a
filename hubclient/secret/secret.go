// Package secret recognizes credentials in texts by the shapes that well-known issuers give them, and private keys.
//
// It does not guess by how random a text looks. It is no library, because those that do the same come with rules for
// hundreds of issuers, settings, and a walk through files of their own. It knows neither files nor questions.
package secret

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// Found is a credential in a text.
type Found struct {
	At   int    // its first byte
	What string // such as: a GitHub token

	prefix int // length of what all credentials of that kind begin with
}

// Longest is how many bytes are enough to recognize the credential that begins with them.
const Longest = 256

// kinds are the shapes of credentials: what one is, its prefix, and an expression for what follows the prefix.
var kinds = [][3]string{
	{"a private key", "-----BEGIN ",
		`(?:[A-Z0-9]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])+[A-Za-z0-9+/=:,\- ]{20}`},
	{"a GitHub token", "ghp_", `[A-Za-z0-9]{36}`},
	{"a GitHub token", "gho_", `[A-Za-z0-9]{36}`},
	{"a GitHub token", "ghs_", `[A-Za-z0-9]{36}`},
	{"a GitHub token", "github_pat_", `[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`},
	{"a GitLab token", "glpat-", `[A-Za-z0-9_-]{20}`},
	{"an AWS key", "AKIA", `[A-Z2-7]{16}\b`},
	{"an AWS key", "ASIA", `[A-Z2-7]{16}\b`},
	{"a Google API key", "AIza", `[A-Za-z0-9_-]{35}`},
	{"a Google client secret", "GOCSPX-", `[A-Za-z0-9_-]{28}`},
	{"a Stripe key", "sk_live_", `[A-Za-z0-9]{20}`},
	{"a Stripe key", "rk_live_", `[A-Za-z0-9]{20}`},
	{"a Slack token", "xox", `[abeprs]-[A-Za-z0-9-]{20}`},
	{"a Slack webhook", "hooks.slack.com/services/", `T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20}`},
	{"a SendGrid key", "SG.", `[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`},
	{"an npm token", "npm_", `[A-Za-z0-9]{36}`},
	{"a PyPI token", "pypi-AgEIcHlwaS5vcmc", `[A-Za-z0-9_-]{50}`},
	{"a Docker Hub token", "dckr_pat_", `[A-Za-z0-9_-]{27}`},
	{"an Anthropic key", "sk-ant-", `[a-z0-9]{3,8}-[A-Za-z0-9_-]{80}`},
	{"an OpenAI key", "sk-proj-", `[A-Za-z0-9_-]{40}`},
	{"a Hugging Face token", "hf_", `[A-Za-z]{34}\b`},
	{"a DigitalOcean token", "dop_v1_", `[a-f0-9]{64}`},
	{"a Shopify token", "shpat_", `[a-fA-F0-9]{32}`},
	{"a Linear key", "lin_api_", `[A-Za-z0-9]{40}`},
	{"a Figma token", "figd_", `[A-Za-z0-9_-]{40}`},
	{"a Vault token", "hvs.", `[A-Za-z0-9_-]{24}`},
	{"a Tailscale key", "tskey-", `[a-z]{4,10}-[A-Za-z0-9]{8,16}-[A-Za-z0-9]{20}`},
	{"an age key", "AGE-SECRET-KEY-1", `[0-9A-Z]{58}`},
}

type shape struct {
	what   string
	prefix []byte
	rest   func() *regexp.Regexp // matches what follows prefix; compiled when it is first needed
}

// finder looks for all shapes at once. pairs has the first two bytes of each prefix: at nearly all places of a
// text, two bytes say that no shape begins there.
type finder struct {
	shapes []shape
	pairs  [1 << 16]bool
}

// known is created when it is first needed, because most commands do not need it.
var known = sync.OnceValue(func() *finder {
	f := &finder{}
	for _, k := range kinds {
		rest := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + k[2] + `)`) })
		s := shape{what: k[0], prefix: []byte(k[1]), rest: rest}
		f.shapes = append(f.shapes, s)
		f.pairs[pair(s.prefix)] = true
	}
	return f
})

func pair(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) }

// Find returns the first credential in text.
func Find(text []byte) (f Found, ok bool) {
	finder := known()
	for i := range max(0, len(text)-1) {
		insideWord := i > 0 && isWord(text[i-1]) && isWord(text[i])
		if !finder.pairs[pair(text[i:])] || insideWord {
			continue
		}
		for _, s := range finder.shapes {
			rest, begins := bytes.CutPrefix(text[i:], s.prefix)
			isExample := bytes.HasPrefix(rest, []byte("IOSFODNN7EXAMPLE")) // that of AWS's documents
			if begins && !isExample && s.rest().Match(rest[:min(len(rest), Longest)]) {
				return Found{i, s.what, len(s.prefix)}, true
			}
		}
	}
	return Found{}, false
}

// Redact returns text with no more of each credential than the beginning that says what it is. After that of a private
// key nothing is left.
func Redact(text string) string {
	redacted := ""
	for {
		f, ok := Find([]byte(text))
		if !ok {
			return redacted + text
		}
		shown := f.At + f.prefix
		redacted += text[:shown] + "…"
		if f.What == kinds[0][0] {
			return redacted
		}
		text = strings.TrimLeftFunc(text[shown:], func(r rune) bool {
			return r < utf8.RuneSelf && (isWord(byte(r)) || strings.ContainsRune("-./+=", r))
		})
	}
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

const maxFindings = 20

// InSettings returns which settings of a config look like credentials, at most 20, with pointers into the settings
// and without their values. canonical is the config's canonical form.
func InSettings(config flat.Config, canonical []byte) (found []wire.FieldError) {
	if _, hasAny := Find(canonical); !hasAny {
		return nil
	}
	for _, e := range flat.Diff(flat.Config{}, config) {
		credential, ok := Find([]byte(e.To))
		if !ok || len(found) == maxFindings {
			continue
		}
		path, _ := flat.SplitKey(e.Key) // it does not fail for a key of a config
		pointer := jsontext.Pointer("")
		for _, name := range path {
			pointer = pointer.AppendToken(name)
		}
		found = append(found, wire.FieldError{
			Pointer: string(pointer), Keyword: wire.KeywordCredential,
			Detail: "this looks like " + credential.What + ": everyone who can read the project can read it",
		})
	}
	return found
}
