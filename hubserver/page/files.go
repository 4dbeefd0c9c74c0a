package page

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// Files is the tab with a project's base files: a directory, the files that match a search, or one file.
type Files struct {
	*Project
	Path   string // of the directory or file; "" for the root
	Trail  []Link // the directories on the way to it, and itself
	Find   string // what was searched for
	Rows   []FileRow
	First  string // the address of the first page; "" on that page
	Next   string // the address of the next page; "" on the last one
	Shown  int    // rows up to the end of this page
	All    int    // rows of all pages
	File   *File  // nil: not a file
	Hidden string // why the file's content is not shown; "" if it is
}

// FileRow is a file or a directory in a list.
type FileRow struct {
	Link
	Count      int // of files in a directory; 0 for a file
	Size       int64
	Executable bool
}

// File is one base file.
type File struct {
	tree.Entry
	Executable bool
	Lines      []string
	Image      template.URL // its content, if it is an image; "" otherwise
}

// What a page of base files shows at most, and takes.
const (
	maxFileRows  = 500
	maxFileText  = 256 << 10 // bytes
	maxFileLines = 20_000
	maxFileImage = 1 << 20 // bytes
	maxFind      = 200

	listMemoryFactor = 3   // times the size of a list of files, read
	contentMemory    = 4   // times the size of a file: as an image in base64, in the page
	lineMemory       = 256 // bytes for a line of a text, of which the page has 40 besides the text
)

// filesPage shows the Files tab.
func filesPage(c *request.Call, p *Project) error {
	q := c.R.URL.Query()
	shown := &Files{Project: p, Path: strings.Trim(c.Param("file"), "/"), Find: q.Get("find")}
	shown.Trail = []Link{{"Files", fileURL(p.Ref, "")}}
	if shown.Path != "" {
		p.Title = shown.Path + " · " + p.Ref
		names := strings.Split(shown.Path, "/")
		for i, name := range names {
			shown.Trail = append(shown.Trail, Link{name, fileURL(p.Ref, strings.Join(names[:i+1], "/"))})
		}
	}
	if p.Files.N == 0 {
		if shown.Path != "" {
			return absentFile(c, shown)
		}
		return show(c, http.StatusOK, "files", shown)
	}
	list, err := c.View().Newest(p.ID, store.Files)
	if err != nil {
		return err
	}
	if err := c.Need(listMemoryFactor * int64(len(list.Content))); err != nil {
		return err
	}
	files, err := tree.Read(list.Content)
	if err != nil {
		return err
	}
	i, ok := slices.BinarySearchFunc(files, shown.Path, func(e tree.Entry, path string) int {
		return cmp.Compare(e.Path, path)
	})
	if ok {
		return filePage(c, shown, files[i])
	}
	from := 0
	if text := q.Get("from"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			return request.InvalidBody("", "from must be a number of rows, not %q", text)
		}
	}
	var rows []FileRow
	if shown.Find != "" {
		if len(shown.Find) > maxFind {
			return request.InvalidBody("", "find has more than %d characters", maxFind)
		}
		rows = matching(p.Ref, files, shown.Find)
	} else if rows = inDirectory(p.Ref, files, shown.Path); rows == nil {
		return absentFile(c, shown)
	}
	address := func(from int) string {
		q := url.Values{}
		if shown.Find != "" {
			q.Set("find", shown.Find)
		}
		if from > 0 {
			q.Set("from", strconv.Itoa(from))
		}
		return withQuery(fileURL(p.Ref, shown.Path), q)
	}
	from = min(from, len(rows))
	shown.All, shown.Shown = len(rows), min(from+maxFileRows, len(rows))
	shown.Rows = rows[from:shown.Shown]
	if from > 0 {
		shown.First = address(0)
	}
	if shown.Shown < shown.All {
		shown.Next = address(shown.Shown)
	}
	return show(c, http.StatusOK, "files", shown)
}

// absentFile responds with the page of a path that has no file. Its viewer may read the project.
func absentFile(c *request.Call, shown *Files) error {
	shown.Hidden = "There is no such file. A push may have removed it."
	return show(c, http.StatusNotFound, "files", shown)
}

// inDirectory lists what is directly in a directory, subdirectories first; nil if it is empty.
func inDirectory(project string, files tree.Tree, dir string) (rows []FileRow) {
	prefix := dir + "/"
	if dir == "" {
		prefix = ""
	}
	directories := map[string]int{} // their positions in rows
	for _, e := range files {
		rest, below := strings.CutPrefix(e.Path, prefix)
		if !below {
			continue
		}
		name, _, deeper := strings.Cut(rest, "/")
		if !deeper {
			rows = append(rows, fileRow(project, name, e))
			continue
		}
		i, known := directories[name]
		if !known {
			i = len(rows)
			directories[name] = i
			rows = append(rows, FileRow{Link: Link{name, fileURL(project, prefix+name)}})
		}
		rows[i].Count++
		rows[i].Size += e.Size
	}
	slices.SortStableFunc(rows, func(a, b FileRow) int { return cmp.Compare(min(b.Count, 1), min(a.Count, 1)) })
	return rows
}

// matching lists the files whose path contains find, in any case.
func matching(project string, files tree.Tree, find string) (rows []FileRow) {
	find = strings.ToLower(find)
	for _, e := range files {
		if strings.Contains(strings.ToLower(e.Path), find) {
			rows = append(rows, fileRow(project, e.Path, e))
		}
	}
	return rows
}

func fileRow(project, name string, e tree.Entry) FileRow {
	return FileRow{Link: Link{name, fileURL(project, e.Path)}, Size: e.Size, Executable: e.Mode == tree.Executable}
}

// fileURL returns the address of the page of a file or a directory, "" for the root.
func fileURL(project, path string) string {
	address := url.URL{Path: "/" + project + "/files"}
	if path != "" {
		address.Path += "/" + path
	}
	return address.EscapedPath()
}

// images are the extensions of the images that a page shows.
var images = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".ico", ".svg"}

// filePage shows one file, as an image, as text, or as both.
func filePage(c *request.Call, shown *Files, e tree.Entry) error {
	file := &File{Entry: e, Executable: e.Mode == tree.Executable}
	shown.File = file
	extension := strings.ToLower(path.Ext(e.Path))
	isImage := slices.Contains(images, extension)
	if e.Size > maxFileImage || e.Size > maxFileText && !isImage {
		shown.Hidden = "It is too large to be shown here."
		return show(c, http.StatusOK, "files", shown)
	}
	if err := c.Need(contentMemory * e.Size); err != nil {
		return err
	}
	content, err := api.Content(c, shown.ID, e.SHA256)
	if err != nil {
		return err
	}
	if isImage {
		file.Image = imageURL(extension, content)
	}
	text := string(content)
	isText := utf8.ValidString(text) && !strings.ContainsRune(text, 0) && e.Size <= maxFileText
	lines := int64(strings.Count(text, "\n"))
	switch {
	case !isText && file.Image == "":
		shown.Hidden = "It is binary."
	case lines > maxFileLines && file.Image == "":
		shown.Hidden = "It has too many lines to be shown here."
	case isText && text != "" && lines <= maxFileLines:
		if err := c.Need(lineMemory * lines); err != nil {
			return err
		}
		file.Lines = strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	}
	return show(c, http.StatusOK, "files", shown)
}

// imageURL returns a data URL with the content of an image, "" for other content. The type
// comes from the content, or is SVG, of which an img element runs and fetches nothing.
func imageURL(extension string, content []byte) template.URL {
	mediaType := http.DetectContentType(content)
	switch {
	case extension == ".svg":
		if !utf8.Valid(content) {
			return ""
		}
		mediaType = "image/svg+xml"
	case len(content) > 12 && bytes.Equal(content[4:12], []byte("ftypavif")):
		mediaType = "image/avif"
	case !strings.HasPrefix(mediaType, "image/"):
		return ""
	}
	encoded := base64.StdEncoding.EncodeToString(content)
	return template.URL("data:" + mediaType + ";base64," + encoded) //nolint:gosec // its parts are of fixed alphabets
}
