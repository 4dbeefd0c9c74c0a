package identity_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/projecthub/cmd/tool/internal/identity"
)

func TestLoginsSave_KeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change owners")
	}
	const nobody = 65534
	dir := t.TempDir()
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"alice", "bob"} { // the file is new, then replaced
		logins := load(t, dir)
		put(t, logins, identity.Login{Origin: "http://127.0.0.1:4680", User: user, Token: "t"})
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		info, err := os.Lstat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != nobody {
			t.Errorf("%s belongs to %d", files[0], uid)
		}
	}
}
