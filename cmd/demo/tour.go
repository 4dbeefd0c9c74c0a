package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tour does the main job as a user would, and returns the token of that user.
func (d *demo) tour(origin string) (token string, err error) {
	token, err = d.show(
		d.command("hub", "account", "create", "alice"),
		d.command("hub", "token", "create", "--user", "alice", "--name", "demo",
			"--scope", "write:catalog", "--scope", "admin:resource"),
	)
	if err != nil {
		return "", err
	}
	login := d.command("tool", "login", "--origin", origin, "--with-token")
	login.Stdin = strings.NewReader(token)
	token = strings.TrimSpace(token)
	_, err = d.show(
		login,
		d.command("tool", "publish", "web"),
		d.command("tool", "project", "create", "web", "--base-files", "--visibility", "public"),
	)
	if err != nil {
		return "", err
	}
	d.say("An edit in client.json, and its way to the hub:")
	if err := d.edit(".tool/web/client.json", `"colour": "teal"`, `"colour": "plum"`); err != nil {
		return "", err
	}
	_, err = d.show(
		d.command("tool", "push", "web", "--dry-run"),
		d.command("tool", "push", "web", "--base-files"),
	)
	if err != nil {
		return "", err
	}
	d.say("Meanwhile somebody edits the hub's config, and it is pulled:")
	if err := d.patch(origin, token, `{"set": {"theme.density": 1.5, "title": "Pets and more"}}`); err != nil {
		return "", err
	}
	_, err = d.show(
		d.command("tool", "status"),
		d.command("tool", "pull", "web"),
		d.command("tool", "status", "web"),
	)
	return token, err
}

func (d *demo) say(text string) { fmt.Printf("\n# %s\n", text) }

// show runs commands, each printed before its output, and returns the last one's stdout.
func (d *demo) show(commands ...*exec.Cmd) (string, error) {
	var out bytes.Buffer
	for _, c := range commands {
		if err := d.ctx.Err(); err != nil {
			return "", err
		}
		fmt.Printf("\n$ %s %s\n", filepath.Base(c.Path), strings.Join(c.Args[1:], " "))
		out.Reset()
		var errOut bytes.Buffer
		c.Stdout, c.Stderr = &out, &errOut
		err := c.Run()
		fmt.Print(hideToken(out.String()), errOut.String())
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", filepath.Base(c.Path), c.Args[1], err)
		}
	}
	return out.String(), nil
}

// hideToken keeps the demo's own token off the screen.
func hideToken(s string) string {
	if strings.HasPrefix(s, "hubpat_") {
		return s[:12] + "…\n"
	}
	return s
}

// edit replaces the first occurrence of from in a file of the sample.
func (d *demo) edit(name, from, to string) error {
	path := d.path("work", filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Replace(text, []byte(from), []byte(to), 1), 0o644)
}

// patch edits the hub's config as another editor would. It prints a curl command that does
// the same while the demo's hub is up, with the token in a file.
func (d *demo) patch(origin, token, body string) error {
	if err := os.WriteFile(d.path("token"), []byte(token+"\n"), 0o600); err != nil {
		return err
	}
	fmt.Printf("\n$ curl -X PATCH %s/v1/projects/alice/web/config \\\n    -H \"Authorization: Bearer $(cat '%s')\" \\\n"+
		"    -H 'Content-Type: application/json' -H 'If-Match: *' -d '%s'\n", origin, d.path("token"), body)
	resp, err := d.request(http.MethodPatch, origin+"/v1/projects/alice/web/config", token, body, "*")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("edit the config: the hub answered %s", resp.Status)
	}
	return nil
}

// request sends JSON to the hub. match is the value of If-Match, "" for none.
func (d *demo) request(method, address, token, body, match string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(d.ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if match != "" {
		req.Header.Set("If-Match", match)
	}
	return http.DefaultClient.Do(req)
}

// link returns a link that opens the preview on the project's page, signed in, once.
func (d *demo) link(origin, token string) (string, error) {
	resp, err := d.request(http.MethodPost, origin+"/v1/links", token, `{"page": "/@alice/web/preview"}`, "")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var link struct{ URL string }
	if err := json.NewDecoder(resp.Body).Decode(&link); err != nil {
		return "", fmt.Errorf("create a link: the hub answered %s: %w", resp.Status, err)
	}
	if link.URL == "" {
		return "", fmt.Errorf("create a link: the hub answered %s", resp.Status)
	}
	return link.URL, nil
}
