package storetest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Bucket starts an object store that speaks S3 and ends with the test, sets the variables
// with its credentials, and returns its host and port. It has an empty bucket blobs.
func Bucket(t testing.TB) (host string) {
	t.Helper()
	program, err := exec.LookPath("versitygw")
	if err != nil {
		Missing(t, "versitygw: go -C .ci/versitygw build -o DIRECTORY/versitygw github.com/versity/versitygw/cmd/versitygw, with DIRECTORY on PATH")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "blobs"), 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host = listener.Addr().String()
	listener.Close()
	gateway := exec.Command(program, "--port", host, "--quiet", "posix", dir)
	gateway.Env = append(os.Environ(), "ROOT_ACCESS_KEY=hub", "ROOT_SECRET_KEY=hub-secret")
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gateway.Process.Kill(); gateway.Wait() })
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := net.DialTimeout("tcp", host, time.Second)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("versitygw does not listen: ", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "hub")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hub-secret")
	return host
}
