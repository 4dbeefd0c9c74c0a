//go:build !unix

package tui

// There is no shell that continues a stopped program.
const canSuspend = false

func suspend() error { return nil }

func onSuspend(func()) (forget func()) { return func() {} }
