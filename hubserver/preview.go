package hubserver

import (
	"io"
	"net/http"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/description"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/store"
)

// mayPreview checks that the caller may read the stack or the API of a project, which its
// preview needs: by a role on account, or because the project's preview is public.
func (c *call) mayPreview(what string, bound ref.Ref, isPublic bool) error {
	role, err := c.roleOn(bound.Account())
	if err != nil || isPublic || rank(role) >= rank(wire.Reader) {
		return err
	}
	if c.who == nil {
		return c.unauthenticated()
	}
	return problemf(http.StatusForbidden, wire.CodeNotPermitted, "the preview needs the %s %s, which %s may not read", what, bound, c.who.user).
		hint("ask an admin of %s for the role reader", bound.Account())
}

// publicPreview returns whether the preview is public after an edit. To publish the bundle of
// a stack and the description of an API, one must be an admin of their accounts; binding
// another API ends it, and so may another version of the stack: see keepsPreview.
func (c *call) publicPreview(req *wire.EditProject, view *store.ProjectView) (bool, error) {
	api := refOf(view.APIAccount, view.APISlug)
	rebound := !req.API.IsZero() && req.API != api
	if rebound {
		api = req.API
	}
	if req.PublicPreview == nil {
		return view.PublicPreview && !rebound, nil
	}
	if !*req.PublicPreview {
		return false, c.permitProject(view.Account, wire.Admin, "")
	}
	if err := c.permitProject(view.Account, wire.Admin, ""); err != nil {
		return false, err
	}
	for _, account := range []string{view.StackAccount, api.Account()} {
		if err := c.permit(account, wire.Admin, ""); err != nil {
			return false, err
		}
	}
	return true, nil
}

// keepsPreview reports whether a preview that was public, and is to stay so, is still public
// when an edit takes effect: another version of the stack is published with it only by an
// admin of the stack's account.
func (c *call) keepsPreview(tx *store.Tx, before, after *store.ProjectView) (bool, error) {
	if !before.PublicPreview || after.StackVersion == before.StackVersion {
		return true, nil
	}
	account := before.StackAccount
	role, err := c.who.roleIn(store.Restriction{OnlyAccount: account}, func() (string, error) {
		return tx.RoleOf(c.ctx(), c.who.user, account) // which tryEdit has locked, with the role reader
	})
	return role == wire.Admin, err
}

// previewPage shows the Preview tab.
func (s *Server) previewPage(c *call) error {
	view, project, err := c.projectPage("Preview")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	frame, admin, err := c.frame(view, project)
	if err != nil {
		return err
	}
	role, err := c.roleOnProject()
	if err != nil {
		return err
	}
	shown := page.Preview{Project: project, Frame: frame, IsPublic: view.PublicPreview}
	shown.CanOpen = role == wire.Admin && (admin || view.PublicPreview) && view.IsPublic()
	body, err := shown.Render()
	return c.html(http.StatusOK, body, err)
}

// frame returns what a page of a project needs to show its preview, and whether the caller
// is an admin of the accounts of all that the preview is made from.
func (c *call) frame(view *store.ProjectView, project page.Project) (page.Frame, bool, error) {
	frame := page.Frame{Packages: "/static/" + preview.Packages.Name}
	if c.s.PreviewURL != "" {
		frame.Address = c.s.PreviewURL + "/preview/frame"
	}
	admin := true
	for _, needed := range []page.Missing{
		{What: "stack", Name: project.Stack, Account: view.StackAccount}, {What: "API", Name: project.API, Account: view.APIAccount},
	} {
		role, err := c.roleOn(needed.Account)
		if err != nil {
			return page.Frame{}, false, err
		}
		admin = admin && role == wire.Admin
		if rank(role) < rank(wire.Reader) && !view.PublicPreview {
			frame.Missing = append(frame.Missing, needed)
		}
	}
	return frame, admin, nil
}

// previewStack responds with the bundle of a stack version as a tar: that of the project, or
// another one by ?version=.
func (s *Server) previewStack(c *call) error {
	view, err := c.project()
	if err != nil {
		return err
	}
	bound, number := refOf(view.StackAccount, view.StackSlug), s.toProject(view).ResolvedStackVersion
	isPublic := view.PublicPreview
	if other := c.r.URL.Query().Get("version"); other != "" && other != number {
		number, isPublic = other, false
	}
	if err := c.mayPreview("stack", bound, isPublic); err != nil {
		return err
	}
	if !version.Valid(number) {
		return notFound("version " + number + " of the stack " + bound.String())
	}
	var row *store.StackVersion
	var bundle *store.Body
	err = s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		if row, err = v.StackVersion(c.ctx(), bound, number); err != nil {
			return err
		}
		bundle, err = v.Bundle(c.ctx(), bound, number)
		return err
	})
	if err != nil {
		return absent(err, "version "+number+" of the stack "+bound.String())
	}
	c.w.Header().Set("Stack-Version", number)
	return c.streamTar(row.Digest, bundle)
}

// streamTar responds with a compressed bundle as a tar. Its compression becomes that of the
// response where the caller accepts it.
func (c *call) streamTar(digest string, bundle *store.Body) error {
	encoding := map[string]string{gz: "gzip", zst: "zstd"}[bundle.MediaType]
	if encoding == "" || !accepts(c.r.Header, encoding) {
		encoding = ""
	}
	c.w.Header().Set("Vary", "Accept-Encoding")
	if c.unmodifiedIn(digest, encoding) {
		return nil
	}
	if encoding != "" {
		c.w.Header().Set("Content-Encoding", encoding)
		as := *bundle
		as.MediaType = plain
		return c.stream(&as)
	}
	if err := c.takeAtMost(downloading, pieceCost*min(bundle.Size, store.PieceSize)+2*maxWindow); err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", plain)
	if c.r.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	stream, done, err := inflated(&pieceReader{call: c, body: bundle}, bundle.MediaType)
	if err != nil {
		return err
	}
	defer done()
	_, err = io.Copy(c.w, stream)
	return err
}

func inflated(r io.Reader, mediaType string) (io.Reader, func(), error) {
	if mediaType == gz {
		return gunzip(r)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// pieceReader reads what is stored in pieces, and checks it against its digest.
type pieceReader struct {
	call *call
	body *store.Body
	n    int
	rest []byte
}

func (r *pieceReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.n == r.body.Pieces {
			return 0, io.EOF
		}
		err := r.call.s.Store.Read(r.call.ctx(), func(v *store.View) (err error) {
			r.rest, err = v.Piece(r.call.ctx(), r.body, r.n)
			return err
		})
		if err != nil {
			return 0, err
		}
		r.n++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// previewAPI responds with the description of the project's API as JSON, whatever it is
// written in.
func (s *Server) previewAPI(c *call) error {
	view, err := c.project()
	if err != nil {
		return err
	}
	bound := refOf(view.APIAccount, view.APISlug)
	if err := c.mayPreview("API", bound, view.PublicPreview); err != nil {
		return err
	}
	return c.withDocument(bound, c.previewDocument)
}

func (c *call) previewDocument(doc *store.Body) error {
	if doc.MediaType == "application/json" {
		return c.stream(doc)
	}
	if err := c.takeAtMost(viewing, pieceCost*doc.Size); err != nil {
		return err
	}
	data, err := c.readDocument(doc)
	if err != nil {
		return err
	}
	l, err := c.s.memory.acquire(c.ctx(), describing, c.client(), 0)
	if err != nil {
		return err
	}
	text, err := description.JSON(c.ctx(), data, func(bytes int64) error { return l.resize(c.ctx(), bytes) })
	l.release()
	if err != nil {
		return err
	}
	return c.bytes(http.StatusOK, "application/json", text)
}
