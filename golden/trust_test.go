package golden_test

import (
	"flag"
	"os/exec"
	"testing"
)

// The tests named TestTrust make what the machine or a stranger can do to a hub and to
// tool: they kill programs in the middle of a write, break disks, and send what no
// client sends. The short forms run with all others; the full ones take two hours:
//
//	go test ./golden -run Trust -trust=full -timeout 4h -v
var trust = flag.String("trust", "", "full: run the tests named TestTrust as long as it takes")

// rounds returns how often a TestTrust repeats what it does.
func rounds(short, full int) int {
	if *trust == "full" {
		return full
	}
	return short
}

// privileged runs a command that only the administrator of a machine may, such as
// mount. Where nobody may, in a container for example, the test is skipped.
func privileged(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Skipf("this machine does not allow %s %v: %v %s", name, args, err, out)
	}
}
