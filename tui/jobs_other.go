//go:build !unix

package tui

func jobControl() bool { return false }
