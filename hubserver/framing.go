package hubserver

import (
	"bytes"
	"math"
	"strconv"
)

// framing follows the requests on a connection from head to head. It finds those that
// net/http accepts although another program, such as a proxy in front of the hub, may
// see their end elsewhere (RFC 9112, sections 2.2, 5.2 and 6): lines that end in LF
// alone, folded headers, and Content-Length with Transfer-Encoding. All other checks
// are left to net/http, which closes the connection after each that fails.
type framing struct {
	state  framingState
	line   [keptOfLine]byte // where the current line begins
	length int              // of the current line so far
	tail   [8]byte          // the end of the current line so far
	left   uint64           // bytes of the body, or of the chunk, to come

	contentLength uint64 // noLength: none was named
	codings       int    // Transfer-Encoding headers
	chunked       bool   // what the last one of them names
	http11        bool

	heads []bool // of each request that is not answered and whose first line came: its method is HEAD
}

type framingState int

const (
	betweenRequests framingState = iota
	inRequestLine
	inHeader
	inSizedBody
	inChunkSize
	inChunk
	afterChunk
	inTrailer
	atEnd // net/http will refuse what was sent and close the connection
)

const (
	keptOfLine = 64 // enough for every header that decides about the framing
	noLength   = math.MaxUint64
)

// framingError says why a request is refused.
type framingError string

func (e framingError) Error() string { return string(e) }

const (
	errBareLF      framingError = "a line ends in LF without CR"
	errFolded      framingError = "a header is continued on another line"
	errTwoLengths  framingError = "the request has both Content-Length and Transfer-Encoding, or several values of one of them"
	errOldChunks   framingError = "Transfer-Encoding needs HTTP/1.1"
	errBadLength   framingError = "the Content-Length is not a number"
	errLongFraming framingError = "the Content-Length or Transfer-Encoding is too long"
	errBadChunk    framingError = "the size of a chunk is invalid, or not that of the chunk"
)

// inHead reports whether the next byte belongs to the head of a request.
func (f *framing) inHead() bool { return f.state <= inHeader }

// answered drops the first request: a handler has answered it.
func (f *framing) answered() {
	if len(f.heads) > 0 {
		f.heads = append(f.heads[:0], f.heads[1:]...)
	}
}

// toHead reports whether the method of the first request that is not answered is HEAD.
func (f *framing) toHead() bool {
	if len(f.heads) > 0 {
		return f.heads[0]
	}
	return f.state == inRequestLine && hasHeadMethod(f.line[:min(f.length, len(f.line))])
}

func hasHeadMethod(line []byte) bool { return bytes.HasPrefix(line, []byte("HEAD ")) }

// scan follows p, and returns how much of it comes before the byte that makes the
// request invalid.
func (f *framing) scan(p []byte) (int, error) {
	for i := 0; i < len(p); {
		switch f.state {
		case atEnd:
			return len(p), nil
		case betweenRequests:
			if p[i] == '\r' || p[i] == '\n' { // net/http skips up to 4 of them after a POST, and refuses others
				i++
				continue
			}
			f.state, f.length = inRequestLine, 0
			f.contentLength, f.codings, f.chunked = noLength, 0, false
		case inSizedBody, inChunk:
			n := min(f.left, uint64(len(p)-i))
			i += int(n)
			if f.left -= n; f.left == 0 && f.state == inSizedBody {
				f.state = betweenRequests
			} else if f.left == 0 {
				f.state, f.length = afterChunk, 0
			}
		default:
			n, err := f.scanLine(p[i:])
			i += n
			if err != nil {
				return i, err
			}
		}
	}
	return len(p), nil
}

// scanLine follows p to the end of the current line, and returns how many bytes it took.
func (f *framing) scanLine(p []byte) (int, error) {
	if f.length == 0 && (f.state == inHeader || f.state == inTrailer) && (p[0] == ' ' || p[0] == '\t') {
		return 0, errFolded
	}
	end := bytes.IndexByte(p, '\n')
	if end < 0 {
		f.keep(p)
		return len(p), nil
	}
	f.keep(p[:end])
	if f.length == 0 || f.tail[len(f.tail)-1] != '\r' {
		if f.state == inRequestLine && f.length < 4 {
			f.state = atEnd // net/http waits for 4 bytes before it answers
			return end + 1, nil
		}
		return end, errBareLF
	}
	if err := f.endLine(); err != nil {
		return end, err
	}
	f.length = 0
	return end + 1, nil
}

func (f *framing) keep(part []byte) {
	if f.length < len(f.line) {
		copy(f.line[f.length:], part)
	}
	f.length += len(part)
	if n := len(f.tail) - len(part); n > 0 {
		copy(f.tail[:], f.tail[len(part):])
		copy(f.tail[n:], part)
	} else {
		copy(f.tail[:], part[-n:])
	}
}

// endLine acts on the line that has just ended in CRLF.
func (f *framing) endLine() error {
	line := f.line[:min(f.length-1, len(f.line))] // without the CR
	empty := f.length == 1
	switch {
	case f.state == inRequestLine:
		f.http11 = string(f.tail[:]) == "TTP/1.1\r"
		f.heads = append(f.heads, hasHeadMethod(line))
		f.state = inHeader
	case f.state == inHeader && empty:
		return f.endHead()
	case f.state == inHeader:
		return f.header(line)
	case f.state == inChunkSize:
		return f.chunkSize(line)
	case f.state == afterChunk && empty:
		f.state = inChunkSize
	case f.state == afterChunk:
		return errBadChunk
	case f.state == inTrailer && empty:
		f.state = betweenRequests
	}
	return nil
}

func (f *framing) header(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	isLength := bytes.EqualFold(name, []byte("Content-Length"))
	if !isLength && !bytes.EqualFold(name, []byte("Transfer-Encoding")) {
		return nil
	}
	if f.length > len(f.line) {
		return errLongFraming
	}
	value = bytes.Trim(value, " \t")
	if !isLength {
		f.codings++
		f.chunked = bytes.EqualFold(value, []byte("chunked"))
		return nil
	}
	n, err := strconv.ParseUint(string(value), 10, 63)
	switch {
	case err != nil:
		return errBadLength
	case f.contentLength != noLength && f.contentLength != n:
		return errTwoLengths
	}
	f.contentLength = n
	return nil
}

func (f *framing) endHead() error {
	switch {
	case f.codings > 0 && f.contentLength != noLength:
		return errTwoLengths
	case f.codings > 0 && !f.http11:
		return errOldChunks
	case f.codings == 1 && f.chunked:
		f.state = inChunkSize
	case f.codings > 0:
		f.state = atEnd // 501
	case f.contentLength == noLength || f.contentLength == 0:
		f.state = betweenRequests
	default:
		f.state, f.left = inSizedBody, f.contentLength
	}
	return nil
}

func (f *framing) chunkSize(line []byte) error {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 64)
	if err != nil {
		return errBadChunk
	}
	if f.state, f.left = inChunk, n; n == 0 {
		f.state = inTrailer
	}
	return nil
}
