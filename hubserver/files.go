package hubserver

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// What a page of base files shows at most.
const (
	maxFileRows  = 500
	maxFileText  = 256 << 10 // bytes
	maxFileImage = 1 << 20   // bytes
	maxFind      = 200
)

// filesPage shows the Files tab: a directory, what matches a search, or one file.
func (s *Server) filesPage(c *call) error {
	view, project, err := c.projectPage("Files")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	path := strings.Trim(c.params.ByName("file"), "/")
	shown := page.Files{Project: project, Path: path, Find: c.r.URL.Query().Get("find")}
	if shown.Trail = trail(project.Ref, path); path != "" {
		shown.Title = path + " · " + project.Ref
	}
	if project.Tree == "" {
		if path != "" {
			return c.absentFile(shown)
		}
		body, err := shown.Render()
		return c.html(http.StatusOK, body, err)
	}
	_, files, err := c.baseSet()
	if isNotFound(err) { // removed meanwhile
		return c.absentProject()
	}
	if err != nil {
		return err
	}
	if i, ok := slices.BinarySearchFunc(files, path, func(e tree.Entry, path string) int { return cmp.Compare(e.Path, path) }); ok {
		return c.filePage(shown, files[i])
	}
	from, err := c.listFrom()
	if err != nil {
		return err
	}
	var rows []page.FileRow
	if shown.Find != "" {
		if len(shown.Find) > maxFind {
			return invalidBody("", "find has more than %d characters", maxFind)
		}
		rows = matching(project.Ref, files, shown.Find)
	} else if rows = inDirectory(project.Ref, files, path); rows == nil {
		return c.absentFile(shown)
	}
	c.pageOfRows(&shown, rows, from)
	body, err := shown.Render()
	return c.html(http.StatusOK, body, err)
}

// absentFile responds with the page of a path that has no file. Its viewer may read the project.
func (c *call) absentFile(shown page.Files) error {
	shown.Hidden = "There is no such file. A push may have removed it."
	body, err := shown.Render()
	return c.html(http.StatusNotFound, body, err)
}

// listFrom returns how many rows of a list the page before it has shown.
func (c *call) listFrom() (int, error) {
	text := c.r.URL.Query().Get("from")
	if text == "" {
		return 0, nil
	}
	from, err := strconv.Atoi(text)
	if err != nil || from < 0 {
		return 0, invalidBody("", "from must be a number of rows, not %q", text)
	}
	return from, nil
}

// pageOfRows puts those rows on a page that follow the first ones.
func (c *call) pageOfRows(shown *page.Files, rows []page.FileRow, from int) {
	address := func(from int) string {
		q := url.Values{}
		if shown.Find != "" {
			q.Set("find", shown.Find)
		}
		if from > 0 {
			q.Set("from", strconv.Itoa(from))
		}
		return withQuery(fileURL(shown.Ref, shown.Path), q)
	}
	from = min(from, len(rows))
	end := min(from+maxFileRows, len(rows))
	if from > 0 {
		shown.First = address(0)
	}
	if end < len(rows) {
		shown.Next = address(end)
	}
	shown.Rows, shown.Shown, shown.All = rows[from:end], end, len(rows)
}

// inDirectory lists what is directly in a directory, subdirectories first; nil if it is empty.
func inDirectory(project string, files tree.Tree, dir string) (rows []page.FileRow) {
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
			rows = append(rows, page.FileRow{Link: page.Link{Name: name, URL: fileURL(project, prefix+name)}})
		}
		rows[i].Count++
		rows[i].Size += e.Size
	}
	slices.SortStableFunc(rows, func(a, b page.FileRow) int { return cmp.Compare(min(b.Count, 1), min(a.Count, 1)) })
	return rows
}

// matching lists the files whose path contains find, in any case.
func matching(project string, files tree.Tree, find string) (rows []page.FileRow) {
	find = strings.ToLower(find)
	for _, e := range files {
		if strings.Contains(strings.ToLower(e.Path), find) {
			rows = append(rows, fileRow(project, e.Path, e))
		}
	}
	return rows
}

func fileRow(project, name string, e tree.Entry) page.FileRow {
	return page.FileRow{Link: page.Link{Name: name, URL: fileURL(project, e.Path)}, Size: e.Size, Executable: e.Mode == tree.Executable}
}

// fileURL returns the address of a base file's page.
func fileURL(project, path string) string {
	address := url.URL{Path: "/" + project + "/files"}
	if path != "" {
		address.Path += "/" + path
	}
	return address.EscapedPath()
}

// trail returns the way to path from the root.
func trail(project, path string) []page.Link {
	all := []page.Link{{Name: "Files", URL: fileURL(project, "")}}
	for i := 0; i < len(path); {
		end := len(path)
		if next := strings.IndexByte(path[i:], '/'); next >= 0 {
			end = i + next
		}
		all = append(all, page.Link{Name: path[i:end], URL: fileURL(project, path[:end])})
		i = end + 1
	}
	return all
}

// filePage shows one file.
func (c *call) filePage(shown page.Files, e tree.Entry) error {
	shown.File = &page.File{Size: e.Size, Executable: e.Mode == tree.Executable, SHA256: e.SHA256}
	most := int64(maxFileText)
	if page.IsImageName(e.Path) {
		most = maxFileImage
	}
	if e.Size > most {
		shown.Hidden = "It is too large to be shown here."
	} else if err := c.showContent(&shown, e); err != nil {
		return err
	}
	body, err := shown.Render()
	return c.html(http.StatusOK, body, err)
}

// imageMemory is what a byte of an image costs: itself, in base64, and in the page.
const imageMemory = 5

// showContent puts the content of a file on its page, as an image, as text, or as both.
func (c *call) showContent(shown *page.Files, e tree.Entry) error {
	if e.Size > maxFileText {
		if err := c.takeAtMost(viewing, imageMemory*e.Size); err != nil {
			return err
		}
	}
	content, err := c.blob(e)
	if err != nil {
		return err
	}
	shown.File.Image = page.ImageURL(e.Path, content)
	text := string(content)
	isText := utf8.ValidString(text) && !strings.ContainsRune(text, 0) && e.Size <= maxFileText
	switch {
	case !isText && shown.File.Image == "":
		shown.Hidden = "It is binary."
	case isText && text != "":
		shown.File.Lines = strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	}
	return nil
}

// blob returns the content of a base file of the project that the path names.
func (c *call) blob(e tree.Entry) ([]byte, error) {
	var content bytes.Buffer
	err := c.s.Store.Read(c.ctx(), func(v *store.View) error {
		reader := v.BlobReader(c.ref().Account())
		stored, err := reader.Locate(c.ctx(), tree.Tree{e})
		if err != nil {
			return err
		}
		return reader.Copy(c.ctx(), &content, stored[0].Blob)
	})
	if errors.Is(err, store.ErrDamaged) {
		c.damagedFiles(tree.Tree{e}, err)
	}
	return content.Bytes(), err
}
