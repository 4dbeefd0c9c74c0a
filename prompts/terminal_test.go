package prompts_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/projecthub/prompts"
)

// A hub that does not answer leaves no empty screen: what is waited for is shown until then.
func TestTerminal_ShowsWhichHubIsWaitedFor(t *testing.T) {
	frames := make(frames, 1000)
	v := &prompts.Terminal{Err: frames, Size: func() (columns, rows int) { return 80, 24 }}
	one, two := v.WaitFor("https://hub.test", true), v.WaitFor("https://hub.test", true)
	frames.await("waiting for https://hub.test, ")
	one()
	if !v.Note("trying again") { // the other request has no answer yet
		t.Error("nothing is shown")
	}
	frames.await("trying again")
	two()
	if v.Note("over") {
		t.Error("it is still shown")
	}
}

// A warning amid a transfer is a line of its own.
func TestTerminal_WritesAboveWhatIsDrawn(t *testing.T) {
	frames := make(frames, 1000)
	v := &prompts.Terminal{Err: frames, Size: func() (columns, rows int) { return 80, 24 }}
	above := v.Above(frames)
	fmt.Fprintln(above, "before")
	frames.await("before\n")
	v.WaitFor("https://hub.test", true)
	frames.await("waiting for https://hub.test, ")
	fmt.Fprintln(above, "warning: x")
	frames.await("\r\x1b[Jwarning: x\n")
	frames.await("waiting for https://hub.test, ")
}

// frames is what is drawn.
type frames chan string

func (f frames) Write(p []byte) (int, error) {
	f <- string(p)
	return len(p), nil
}

// await returns when text was drawn.
func (f frames) await(text string) {
	for all := ""; !strings.Contains(all, text); {
		all += <-f
	}
}
