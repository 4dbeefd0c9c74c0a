// Command release makes what is handed to people: for each platform an archive
// with the program, its man pages, its completion scripts and the README, and a
// list of the modules in the program; and a file of their checksums. The same
// source and version make the same bytes.
//
//	go run ./cmd/tool/release -version 1.2.3 dist
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/tool/internal/cli"
)

// platforms are those that the program is released for.
var platforms = []struct{ os, arch string }{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	version := flag.String("version", "", "version that the program is to report")
	origin := flag.String("origin", "", "hub's address that is built in as the default")
	only := flag.String("only", "", "one platform alone, such as linux/amd64")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./cmd/tool/release -version VERSION [-origin ADDRESS] [-only OS/ARCH] DIRECTORY")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *version == "" || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := release(flag.Arg(0), *version, *origin, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// file is one of an archive.
type file struct {
	name string
	mode int64
	text []byte
}

func release(dir, version, origin, only string) error {
	when, err := moment()
	if err != nil {
		return err
	}
	docs, err := documents(version, when)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, p := range platforms {
		if only != "" && only != p.os+"/"+p.arch {
			continue
		}
		program, err := build(p.os, p.arch, version, origin)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("tool_%s_%s_%s", version, p.os, p.arch)
		pack, suffix := packTar, ".tar.gz"
		if p.os == "windows" {
			pack, suffix = packZip, ".zip"
		}
		archive, err := pack(name, append([]file{program}, docs...), when)
		if err != nil {
			return err
		}
		materials, err := billOfMaterials(program.text, version, when)
		if err != nil {
			return err
		}
		for _, made := range []file{{name + suffix, 0, archive}, {name + ".cdx.json", 0, materials}} {
			if err := os.WriteFile(filepath.Join(dir, made.name), made.text, 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(made.text), made.name)
			fmt.Println(filepath.Join(dir, made.name))
		}
	}
	if sums.Len() == 0 {
		return fmt.Errorf("there is no platform %s", only)
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// moment is the time that the files of an archive bear: SOURCE_DATE_EPOCH, else
// that of the last commit.
func moment() (time.Time, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, errors.New("set SOURCE_DATE_EPOCH to the seconds of the release: git does not tell when the last commit was")
		}
		seconds = strings.TrimSpace(string(out))
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(n, 0).UTC(), nil
}

// build returns the program for one platform.
func build(system, arch, version, origin string) (file, error) {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return file{}, err
	}
	defer os.RemoveAll(dir)
	name := "tool"
	if system == "windows" {
		name += ".exe"
	}
	flags := "-s -w -X example.com/projecthub/cmd/tool/internal/app.Version=" + version
	if origin != "" {
		flags += " -X example.com/projecthub/cmd/tool/internal/identity.DefaultOrigin=" + origin
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", filepath.Join(dir, name), "example.com/projecthub/cmd/tool")
	c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return file{}, fmt.Errorf("build for %s/%s: %w\n%s", system, arch, err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	return file{name, 0o755, text}, err
}

// documents returns the man pages, the completion scripts and the README.
func documents(version string, when time.Time) ([]file, error) {
	pages, err := manPages(version, when)
	if err != nil {
		return nil, err
	}
	scripts, err := completions()
	if err != nil {
		return nil, err
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "example.com/projecthub").Output()
	if err != nil {
		return nil, errors.New("run it inside the project's source: go run ./cmd/tool/release")
	}
	readme, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "README.md"))
	return slices.Concat(pages, scripts, []file{{"README.md", 0o644, readme}}), err
}

// manPages returns a page for each command.
func manPages(version string, when time.Time) ([]file, error) {
	dir, err := os.MkdirTemp("", "man-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root := cli.Tree()
	escape(root)
	header := &doc.GenManHeader{Section: "1", Source: "tool " + version, Manual: "tool", Date: &when}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, err
	}
	var all []file
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, file{"man/man1/" + e.Name(), 0o644, text})
	}
	return all, nil
}

// escape keeps <name> and [flag] from being read as markup: a page is made by way
// of Markdown.
func escape(c *cobra.Command) {
	plain := strings.NewReplacer("<", `\<`, "[", `\[`)
	c.Use, c.Short, c.Long = plain.Replace(c.Use), plain.Replace(c.Short), plain.Replace(c.Long)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = plain.Replace(f.Usage) })
	for _, sub := range c.Commands() {
		escape(sub)
	}
}

func completions() ([]file, error) {
	root := cli.Tree()
	var all []file
	for _, shell := range []struct {
		name     string
		generate func(io.Writer) error
	}{
		{"tool.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"_tool", root.GenZshCompletion},
		{"tool.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"tool.ps1", root.GenPowerShellCompletionWithDesc},
	} {
		var b bytes.Buffer
		if err := shell.generate(&b); err != nil {
			return nil, err
		}
		all = append(all, file{"completions/" + shell.name, 0o644, b.Bytes()})
	}
	return all, nil
}

func packTar(dir string, files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{Name: path.Join(dir, f.name), Mode: f.mode, Size: int64(len(f.text)), ModTime: when, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), zipped.Close())
	return b.Bytes(), err
}

func packZip(dir string, files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(dir, f.name), Method: zip.Deflate, Modified: when}
		h.SetMode(os.FileMode(f.mode))
		out, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := out.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
