package previewmodule

import (
	"strings"
	"unicode/utf8"
)

// imported is a module that a script names.
type imported struct {
	name string
	line int
}

// imports lists the modules that a script of JavaScript or TypeScript imports, except those
// that it imports as types only. It knows strings, comments, templates and regular
// expressions, and nothing else of the language: what is malformed is for the preview to say.
func imports(source string) (all []imported) {
	s := scanner{source: source, line: 1}
	var before []string // the tokens since the statement's import or export
	for {
		token := s.next()
		switch {
		case token == "":
			return all
		case token == "import" || token == "export":
			if s.previous != "." && s.previous != "typeof" {
				before = []string{token}
			}
			continue
		case before == nil:
			continue
		case token[0] == '"' || token[0] == '\'':
			last := before[len(before)-1]
			types := len(before) > 2 && before[1] == "type" && before[2] != "from" && before[2] != ","
			direct := last == "import" || last == "from" || len(before) == 2 && before[0] == "import" && last == "("
			if direct && !types {
				all = append(all, imported{unquote(token), s.start})
			}
			before = nil
		case token == ";" || token == "=" || len(before) > 1 && token == "(" || before[0] == "export" && len(before) == 1 && token != "*" && token != "{" && token != "type":
			before = nil
		case before[0] == "import" && token == "." && len(before) == 1: // import.meta
			before = nil
		default:
			before = append(before, token)
		}
	}
}

// unquote returns the text of a string literal; escapes that names of files do not need stay.
func unquote(token string) string {
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\/`, `/`).Replace(token[1 : len(token)-1])
}

// scanner splits a script into words, string literals and single characters.
type scanner struct {
	source   string
	at, line int
	start    int    // the line on which the token begins
	token    string // the newest
	previous string // the one before
	depth    []int  // braces that are open in each template that is being read
}

func (s *scanner) next() string {
	s.space()
	s.previous, s.start = s.token, s.line
	if s.at >= len(s.source) {
		return ""
	}
	begin, c := s.at, s.source[s.at]
	switch {
	case isWord(c):
		for s.at < len(s.source) && isWord(s.source[s.at]) {
			s.at++
		}
	case c == '"' || c == '\'':
		s.skip(c, "\n")
	case c == '`':
		s.at++
		s.template()
	case c == '/' && s.beginsRegExp():
		s.regExp()
	case c == '{' && len(s.depth) > 0:
		s.at++
		s.depth[len(s.depth)-1]++
	case c == '}' && len(s.depth) > 0:
		s.at++
		if last := len(s.depth) - 1; s.depth[last] > 0 {
			s.depth[last]--
		} else {
			s.depth = s.depth[:last]
			s.template()
		}
	default:
		_, size := utf8.DecodeRuneInString(s.source[s.at:])
		s.at += size
	}
	s.token = s.source[begin:s.at]
	if (c == '"' || c == '\'') && (len(s.token) < 2 || s.token[len(s.token)-1] != c) {
		s.token = "?" // it does not end
	}
	return s.token
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// space skips white space and comments.
func (s *scanner) space() {
	for s.at < len(s.source) {
		rest := s.source[s.at:]
		switch {
		case rest[0] == '\n':
			s.line++
			s.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\f' || rest[0] == '\v':
			s.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				end = len(rest) - 4
			}
			s.line += strings.Count(rest[:end+4], "\n")
			s.at += end + 4
		default:
			return
		}
	}
}

// skip reads up to the closing character, or to one of stop.
func (s *scanner) skip(closing byte, stop string) {
	for s.at++; s.at < len(s.source); s.at++ {
		switch c := s.source[s.at]; {
		case c == '\\' && s.at+1 < len(s.source):
			if s.at++; s.source[s.at] == '\n' {
				s.line++
			}
		case c == closing:
			s.at++
			return
		case strings.IndexByte(stop, c) >= 0:
			return
		}
	}
}

// template reads a template up to its end, or to an expression in it.
func (s *scanner) template() {
	for ; s.at < len(s.source); s.at++ {
		switch c := s.source[s.at]; {
		case c == '\n':
			s.line++
		case c == '\\' && s.at+1 < len(s.source):
			if s.at++; s.source[s.at] == '\n' {
				s.line++
			}
		case c == '`':
			s.at++
			return
		case strings.HasPrefix(s.source[s.at:], "${"):
			s.at += 2
			s.depth = append(s.depth, 0)
			return
		}
	}
}

// beginsRegExp guesses by what is before a slash whether it divides.
func (s *scanner) beginsRegExp() bool {
	switch p := s.previous; {
	case p == "" || strings.Contains("(,=:[!&|?{};+-*%~^<>", p):
		return true
	case p == "return" || p == "typeof" || p == "case" || p == "in" || p == "of" || p == "delete" || p == "void" || p == "await" || p == "yield":
		return true
	}
	return false
}

func (s *scanner) regExp() {
	inClass := false
	for s.at++; s.at < len(s.source); s.at++ {
		switch c := s.source[s.at]; {
		case c == '\\' && s.at+1 < len(s.source):
			s.at++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '\n':
			return
		case c == '/' && !inClass:
			s.at++
			return
		}
	}
}
