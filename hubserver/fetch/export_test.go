package fetch

// Control runs the check that [net.Dialer] makes before it connects.
func (f *Fetcher) Control(network, address string) error {
	return f.guard.control(network, address, nil)
}
