package page

import "strings"

// browsers and systems are told by these parts of what a browser calls itself. The order
// matters: most browsers name several others.
var (
	browsers = [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"CriOS/", "Chrome"}, {"FxiOS/", "Firefox"}, {"Version/", "Safari"}}
	systems  = [][2]string{{"Android", "Android"}, {"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}}
)

// Browser names the browser of a session, such as "Firefox 153 on Linux"; one that is not
// known by the name that it gives itself.
func (s Session) Browser() string {
	for _, b := range browsers {
		_, version, ok := strings.Cut(s.Agent, b[0])
		if !ok {
			continue
		}
		version = version[:len(version)-len(strings.TrimLeft(version, "0123456789"))]
		name := strings.TrimSpace(b[1] + " " + version)
		for _, system := range systems {
			if strings.Contains(s.Agent, system[0]) {
				return name + " on " + system[1]
			}
		}
		return name
	}
	if s.Agent == "" {
		return "unknown browser"
	}
	return s.Agent
}
