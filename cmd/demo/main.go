// Command demo shows the main job for real: it builds hub and tool, starts a hub
// on a temporary database, and publishes, creates, pushes and pulls a small
// project, printing each command before its output.
//
//	go run ./cmd/demo          keeps the hub up in a terminal, until ctrl-c
//	go run ./cmd/demo --once   ends when all is shown
//	go run ./cmd/demo --keep   keeps the hub up without a terminal, too
//
// It leaves nothing behind.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"

	"example.com/projecthub/cmd/internal/sample"
)

func main() {
	once := flag.Bool("once", false, "end when all is shown")
	keep := flag.Bool("keep", false, "keep the hub up without a terminal, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	interactive := isatty.IsTerminal(os.Stdout.Fd())
	stay := *keep || interactive && !*once
	err := run(ctx, stay)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// demo runs both programs in one temporary directory.
type demo struct {
	ctx context.Context // ends at ctrl-c
	dir string          // the temporary directory: programs, database, settings and sample
	env []string        // the environment of the programs
}

// run shows the main job. With stay, it then keeps the hub up until ctx ends.
func run(ctx context.Context, stay bool) (err error) {
	dir, err := os.MkdirTemp("", "hub-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{ctx: ctx, dir: dir}
	d.env = d.environment()
	if err := d.build(); err != nil {
		return err
	}
	if err := os.CopyFS(d.path("work"), sample.PetStore()); err != nil {
		return err
	}
	origin, hub, err := d.startHub()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hub.stop()) }()
	token, err := d.tour(origin)
	if err != nil {
		return ignoreInterrupt(ctx, err)
	}
	if !stay {
		return nil
	}
	if err := d.invite(origin, token); err != nil {
		return ignoreInterrupt(ctx, err)
	}
	<-ctx.Done()
	return nil
}

// invite prints what can be done while the hub is up.
func (d *demo) invite(origin, token string) error {
	link, err := d.link(origin, token)
	if err != nil {
		return err
	}
	fmt.Printf("\nThe hub stays up until ctrl-c. In another terminal, try:\n\n"+
		"  cd %s\n"+
		"  export PATH=%s:$PATH TOOL_CONFIG_DIR=%s TOOL_STATE_DIR=%s\n"+
		"  tool status\n"+
		"  tool preview web            # signs you in, as often as you like\n"+
		"  tool push web --base-files --watch\n\n"+
		"Then edit apps/web/src/App.tsx, or a key on the page's Config tab, and see the app change.\n\n"+
		"The app's preview on the project's page; the link signs you in, once and within a minute:\n"+
		"%s\n",
		d.path("work"), d.path("bin"), d.path("config"), d.path("state"), link)
	return nil
}

// inherited lists the only environment variables that the programs get from the user: the
// user's settings do not change the demo, and the demo does not change the user's directories.
var inherited = []string{"LANG", "LC_ALL", "NO_COLOR", "TERM", "TMPDIR", "TEMP", "TMP", "TZ", "SystemRoot"}

func (d *demo) environment() []string {
	env := []string{
		"PATH=" + d.path("bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HUB_DB=sqlite:" + d.path("hub.db"),
		"TOOL_CONFIG_DIR=" + d.path("config"),
		"TOOL_STATE_DIR=" + d.path("state"),
		"HOME=" + d.dir,
		"USERPROFILE=" + d.dir,
		"LocalAppData=" + d.path("cache"),
		"AppData=" + d.path("config"),
	}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// ignoreInterrupt returns nil after ctrl-c, which is a normal end of the demo, else err.
func ignoreInterrupt(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (d *demo) path(elem ...string) string {
	return filepath.Join(append([]string{d.dir}, elem...)...)
}

// build builds both programs. It names them by import path, which works in every directory
// of the repository.
func (d *demo) build() error {
	fmt.Println("Building hub and tool …")
	if err := os.Mkdir(d.path("bin"), 0o755); err != nil {
		return err
	}
	const module = "example.com/projecthub"
	binaries := d.path("bin") + string(filepath.Separator)
	out, buildErr := exec.CommandContext(d.ctx, "go", "build", "-ldflags=-s -w", // which halves the time of linking
		"-o", binaries, module+"/cmd/hub", module+"/cmd/tool").
		CombinedOutput()
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	if buildErr == nil {
		return nil
	}
	current, err := exec.Command("go", "list", "-m").Output()
	if err != nil || !strings.Contains(string(current), module) {
		return errors.New("run it from the project's directory: cd projecthub && go run ./cmd/demo")
	}
	return fmt.Errorf("go build: %w\n%s", buildErr, out)
}

// process is the hub that the demo has started.
type process struct{ c *exec.Cmd }

func (p process) stop() error {
	if runtime.GOOS == "windows" {
		err := p.c.Process.Kill()
		_ = p.c.Wait() // its error only says that it was killed
		return err
	}
	return errors.Join(p.c.Process.Signal(syscall.SIGTERM), p.c.Wait())
}

// startHub starts a hub and returns its address: the first line that the hub prints.
func (d *demo) startHub() (origin string, hub process, err error) {
	c := d.command("hub", "serve", "--listen", "127.0.0.1:0")
	log, err := os.Create(d.path("hub.log"))
	if err != nil {
		return "", hub, err
	}
	defer log.Close()
	c.Stderr = log
	stdout, err := c.StdoutPipe()
	if err != nil {
		return "", hub, err
	}
	if err := c.Start(); err != nil {
		return "", hub, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = c.Wait() // its log says why it ended
		text, _ := os.ReadFile(d.path("hub.log"))
		return "", hub, fmt.Errorf("the hub did not start:\n%s", text)
	}
	return strings.TrimSpace(line), process{c}, nil
}

// command returns a command that runs one of the two programs in the sample's directory. It
// does not depend on d.ctx: a terminal sends ctrl-c to the program itself.
func (d *demo) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(d.path("bin", name), args...)
	c.Dir, c.Env = d.path("work"), d.env
	return c
}
