package tui

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// background is what kind of background the terminal has.
type background int

const (
	unknown background = iota
	dark
	light
)

// BackgroundKnown is sent to a view when the terminal has told its background.
type BackgroundKnown struct{}

// terminalBackground is the background of the program's terminal, as far as it is
// known. It is asked for once.
var terminalBackground struct {
	sync.Mutex
	known background
	asked bool
}

func currentBackground() background {
	terminalBackground.Lock()
	defer terminalBackground.Unlock()
	if terminalBackground.known == unknown {
		return fromVariable(os.Getenv("COLORFGBG"))
	}
	return terminalBackground.known
}

func setBackground(b background) {
	terminalBackground.Lock()
	defer terminalBackground.Unlock()
	terminalBackground.known = b
}

// fromVariable reads COLORFGBG, such as 15;0, which some terminals set: the numbers of
// the 16 colours that text and background have.
func fromVariable(value string) background {
	n, err := strconv.Atoi(value[strings.LastIndexByte(value, ';')+1:])
	switch {
	case err != nil || n < 0 || n > 15:
		return unknown
	case n < 7 || n == 8:
		return dark
	}
	return light
}

// question asks a terminal for its background. One that does not know it is silent.
const question = "\x1b]11;?\x07"

// shouldAsk reports whether it is worth asking a terminal for its background, which
// happens once.
func shouldAsk(t Terminal) bool {
	if lipgloss.NewRenderer(t.Out).ColorProfile() > termenv.ANSI256 && !coloursForced() || os.Getenv("TERM") == "linux" || runtime.GOOS == "windows" || currentBackground() != unknown {
		return false
	}
	terminalBackground.Lock()
	defer terminalBackground.Unlock()
	asked := terminalBackground.asked
	terminalBackground.asked = true
	return !asked
}

// answerFilter is a terminal's input without the answer to the question, which comes
// between the keys, whenever the terminal gets to it.
type answerFilter struct {
	*os.File
	found func(background)
	held  []byte // the beginning of what may be the answer
	done  bool
}

const (
	answerStart = "\x1b]11;"
	maxAnswer   = 64 // bytes
)

// Read returns the keys that were pressed.
func (f *answerFilter) Read(p []byte) (int, error) {
	n, err := f.File.Read(p[:max(1, len(p)-len(f.held))])
	if f.done || n <= 0 {
		return n, err
	}
	data := append(f.held, p[:n]...)
	f.held = nil
	keys, answer, rest := cutAnswer(data)
	if answer != nil {
		f.done = true
		if b := fromAnswer(string(answer)); b != unknown {
			f.found(b)
		}
	}
	f.held = rest
	return copy(p, keys), err
}

// cutAnswer divides input into keys, the answer, if it is whole, and what may become
// one. A lone escape is a key.
func cutAnswer(data []byte) (keys, answer, rest []byte) {
	i := bytes.Index(data, []byte(answerStart))
	if i < 0 {
		for n := min(len(answerStart)-1, len(data)); n > 1; n-- {
			if start := len(data) - n; string(data[start:]) == answerStart[:n] {
				return data[:start], nil, bytes.Clone(data[start:])
			}
		}
		return data, nil, nil
	}
	body := data[i+len(answerStart):]
	end := bytes.IndexAny(body, "\x07\x1b")
	switch {
	case end < 0 && len(body) < maxAnswer, end >= 0 && body[end] == '\x1b' && end+1 == len(body):
		return data[:i], nil, bytes.Clone(data[i:])
	case end < 0:
		return data, nil, nil
	}
	after := body[end+1:]
	if body[end] == '\x1b' {
		after = after[1:] // of ESC \
	}
	return append(bytes.Clone(data[:i]), after...), body[:end], nil
}

// fromAnswer reads an answer such as rgb:ffff/ffff/ffff.
func fromAnswer(answer string) background {
	parts := strings.Split(strings.TrimPrefix(answer, "rgb:"), "/")
	if len(parts) != 3 {
		return unknown
	}
	var colour [3]float64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 16, 16)
		if err != nil {
			return unknown
		}
		colour[i] = float64(n) / (math.Pow(16, float64(len(part))) - 1)
	}
	// Where black and white text have the same contrast.
	if luminance(colour) < 0.179 {
		return dark
	}
	return light
}

// luminance is the relative luminance of WCAG 2.
func luminance(colour [3]float64) float64 {
	for i, c := range colour {
		if c <= 0.04045 {
			colour[i] = c / 12.92
		} else {
			colour[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*colour[0] + 0.7152*colour[1] + 0.0722*colour[2]
}
