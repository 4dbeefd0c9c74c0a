package app

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
)

// ProjectArgument reads the argument that names a hub project: @account/slug, with or without its
// @, the address of a page of it, or the slug alone, where it is clear which project is meant. The failure is
// a usage error.
func (a *App) ProjectArgument(typed string) (ref.Ref, error) {
	if strings.Contains(typed, "://") {
		return a.pageProject(typed)
	}
	r, err := a.ParseProject(typed)
	return r, argumentError(err, typed, "a project")
}

// pageProject reads the address of a project's page, such as https://hub.example.com/@acme/web/history.
// It must be on the hub in use, so that a pasted address cannot choose where the token goes.
func (a *App) pageProject(address string) (r ref.Ref, err error) {
	page, err := url.Parse(address)
	if err != nil {
		return r, argumentError(err, address, "a project")
	}
	segments := append(strings.SplitN(strings.TrimPrefix(page.Path, "/"), "/", 3), "")
	if r, err = ref.Parse(segments[0] + "/" + segments[1]); err != nil {
		return r, argumentError(err, address, "a project")
	}
	id, err := a.Identity()
	if err != nil {
		return r, err
	}
	origin, err := hubclient.ParseOrigin(page.Scheme + "://" + page.Host)
	if err != nil || origin != id.Origin {
		return r, cmdline.Usagef("%q is not a page of the hub in use", address).
			WithHint("name the project, %s, and the hub by --origin", r)
	}
	return r, nil
}

// Argument is ProjectArgument for anything else that an account has; what names it, such as "an API".
func (a *App) Argument(typed, what string) (ref.Ref, error) {
	r, err := a.ParseRef(typed)
	return r, argumentError(err, typed, what)
}

// FullArgument is Argument without guessing: a bot in another account than was meant is an account
// with rights.
func FullArgument(typed, what string) (ref.Ref, error) {
	r, err := ref.ParseTyped(typed)
	return r, argumentError(err, typed, what)
}

func argumentError(err error, typed, what string) error {
	if err == nil {
		return nil
	}
	return cmdline.Usagef("%q is not %s: %s is @account/slug", typed, what, what).
		WithHint("each part is %s", ref.Rule)
}

// ParseProject reads the name of a hub project. A slug alone is the project of the local project
// of this name, else one in the account that [App.ParseRef] takes.
func (a *App) ParseProject(typed string) (ref.Ref, error) {
	r, err := ref.ParseTyped(typed)
	if err == nil || !ref.ValidName(typed) {
		return r, err
	}
	all := a.Destinations()
	if own, ok := all[typed]; ok {
		return own, nil
	}
	return a.inAccount(typed, all, err)
}

// ParseRef reads @account/slug, or the slug alone: then the account is the one that all local
// projects are in, or without any, the login's. If they are in several, none is clear.
func (a *App) ParseRef(typed string) (ref.Ref, error) {
	r, err := ref.ParseTyped(typed)
	if err == nil || !ref.ValidName(typed) {
		return r, err
	}
	return a.inAccount(typed, a.Destinations(), err)
}

// inAccount returns the slug in the account that [App.ParseRef] takes; all are the local projects' hub
// projects. If it is not clear which account is meant, it returns the error unclear.
func (a *App) inAccount(slug string, all map[string]ref.Ref, unclear error) (ref.Ref, error) {
	account := ""
	for _, destination := range all {
		if account != "" && account != destination.Account() {
			return ref.Ref{}, unclear
		}
		account = destination.Account()
	}
	givesToken := a.Token.Given() || a.Getenv(identity.TokenVariable) != ""
	if account == "" && !givesToken && !a.InEnvironment() { // the login is the one in use
		account = a.LoggedIn().User
	}
	if account == "" {
		return ref.Ref{}, unclear
	}
	return ref.New(account, slug)
}

// Destinations returns the hub projects of the local ones, in the environment in use, by local
// name. Those that cannot be read are left out.
func (a *App) Destinations() map[string]ref.Ref {
	all := map[string]ref.Ref{}
	ws, err := a.Workspace()
	if err != nil {
		return all
	}
	names, _ := ws.Projects()
	for _, name := range names {
		p, err := ws.Project(name)
		if err != nil {
			continue
		}
		if a.InEnvironment() {
			p = p.In(a.env.name)
		}
		client, err := p.Client()
		if err != nil {
			continue
		}
		if r, err := ref.Parse(client.Project.Text); err == nil {
			all[name] = r
		}
	}
	return all
}

// LocalOf returns the name of the local project with the destination r, "" for none.
func (a *App) LocalOf(r ref.Ref) string {
	all := a.Destinations()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == r {
			return name
		}
	}
	return ""
}
