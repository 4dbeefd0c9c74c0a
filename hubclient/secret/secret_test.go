package secret_test

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/secret"
)

// Each credential is put together here, so that no scanner takes this file for a leak.
var credentials = map[string]string{
	"a private key":          "-----BEGIN RSA PRIV" + "ATE KEY-----\nMIIEpAIBAAKCAQEA75nU0cI9",
	"a GitHub token":         "ghp" + "_" + strings.Repeat("aB3", 12),
	"a GitLab token":         "glp" + "at-" + strings.Repeat("x9_", 7),
	"an AWS key":             "AK" + "IA" + "ABCDEFGHIJKLMNOP",
	"a Google API key":       "AI" + "za" + strings.Repeat("Sy0-_", 7),
	"a Google client secret": "GOC" + "SPX-" + strings.Repeat("a1", 14),
	"a Stripe key":           "sk_" + "live_" + strings.Repeat("4eC3", 6),
	"a Slack token":          "xo" + "xb-" + strings.Repeat("1234567890-", 3),
	"a Slack webhook":        "https://hooks.slack" + ".com/services/T0123456789/B0123456789/" + strings.Repeat("x", 24),
	"a SendGrid key":         "S" + "G." + strings.Repeat("a", 22) + "." + strings.Repeat("b", 43),
	"an npm token":           "np" + "m_" + strings.Repeat("a1B2", 9),
	"a PyPI token":           "py" + "pi-AgEIcHlwaS5vcmc" + strings.Repeat("a", 60),
	"a Docker Hub token":     "dckr" + "_pat_" + strings.Repeat("abc", 9),
	"an Anthropic key":       "sk-" + "ant-api03-" + strings.Repeat("a", 90),
	"an OpenAI key":          "sk-" + "proj-" + strings.Repeat("a", 48),
	"a Hugging Face token":   "h" + "f_" + strings.Repeat("ab", 17),
	"a DigitalOcean token":   "dop" + "_v1_" + strings.Repeat("0f", 32),
	"a Shopify token":        "shp" + "at_" + strings.Repeat("0f", 16),
	"a Linear key":           "lin" + "_api_" + strings.Repeat("a1", 20),
	"a Figma token":          "fi" + "gd_" + strings.Repeat("a1", 20),
	"a Vault token":          "hv" + "s." + strings.Repeat("a1", 12),
	"a Tailscale key":        "ts" + "key-auth-k123456789-" + strings.Repeat("a1", 10),
	"an age key":             "AGE-SEC" + "RET-KEY-1" + strings.Repeat("A", 58),
}

func TestFind_RecognizesEachShape(t *testing.T) {
	for what, text := range credentials {
		for before, after := range map[string]string{"": "", `{"key": "`: `"}`, "line\nKEY=": "\nnext"} {
			found, ok := secret.Find([]byte(before + text + after))
			at := found.At - len(before)
			if !ok || found.What != what || at < 0 || at > len("https://") {
				t.Errorf("%q is %v, %v at %d, want %s", before+text+after, ok, found.What, at, what)
			}
		}
		if _, ok := secret.Find([]byte("x" + text)); ok && !strings.HasPrefix(text, "-") &&
			!strings.HasPrefix(text, "https") {
			t.Errorf("x%s is taken for one, though it goes on from a word", text)
		}
	}
}

func TestFind_TakesNoOtherTextForOne(t *testing.T) {
	for _, text := range []string{
		"", "AKIAIOSFODNN7EXAMPLE", "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA75nU0cI9", "ghp_short",
		"npm_config_registry",
		"sk_test_4eC39HqLyjWDarjtT1zdp7dc", "-----BEGIN PRIVATE KEY-----", "SG.1", "hf_hub_download",
		`{"$secret": "STRIPE_KEY"}`,
	} {
		if found, ok := secret.Find([]byte(text)); ok {
			t.Errorf("%q is taken for %s", text, found.What)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, text := range credentials {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, ok := secret.Find(text)
		if !ok {
			return
		}
		tail := text[found.At:]
		if again, ok := secret.Find(tail[:min(len(tail), 2*secret.Longest)]); !ok || again.At != 0 &&
			again.What == found.What {
			t.Errorf("%q is %s, but its own bytes are %v %v", tail, found.What, again, ok)
		}
	})
}

// BenchmarkFind compares looking for credentials with hashing, which reads the same bytes.
func BenchmarkFind(b *testing.B) {
	text := bytes.Repeat([]byte("import React from 'react'; // a component of the app, drawn once\n"), 1<<10)
	b.Run("find", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			secret.Find(text)
		}
	})
	b.Run("sha256", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			sha256.Sum256(text)
		}
	})
}
