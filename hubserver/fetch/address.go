package fetch

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

const maxURL = 2048 // bytes

// parse reads an address that somebody wants fetched. The error quotes nothing of
// it, because it may hold a password.
func parse(address string) (*url.URL, error) {
	if len(address) > maxURL {
		return nil, fmt.Errorf("it is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	return u, check(u)
}

// check returns what is wrong with u on the face of it.
func check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("its scheme is neither http nor https")
	case u.Hostname() == "":
		return errors.New("it names no host")
	case u.User != nil:
		return errors.New("it has a user name or a password in it")
	}
	_, err := portNumber(port(u))
	return err
}

func checkRedirect(from, to *url.URL) error {
	if from.Scheme == "https" && to.Scheme == "http" {
		return errors.New("it leads from https to http")
	}
	return check(to)
}

// port returns the port that u means.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

func portNumber(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, errors.New("its port is not a number from 1 to 65535")
	}
	return uint16(n), nil
}
