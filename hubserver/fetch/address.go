package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

const maxURL = 2048 // bytes

// parse reads an address. Its error is an *InvalidURL, which does not quote the address, because that
// may have a password.
func parse(address string) (*url.URL, error) {
	if len(address) > maxURL {
		return nil, &InvalidURL{fmt.Sprintf("it is longer than %d bytes", maxURL)}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, &InvalidURL{"it is not a URL"}
	}
	if err := check(u); err != nil {
		return nil, &InvalidURL{err.Error()}
	}
	return u, nil
}

// check returns why u cannot be fetched, as far as u itself shows.
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
	if u.Scheme == "https" {
		return cmp.Or(u.Port(), "443")
	}
	return cmp.Or(u.Port(), "80")
}

func portNumber(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, errors.New("its port is not a number from 1 to 65535")
	}
	return uint16(n), nil
}
