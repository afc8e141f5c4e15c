package oar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/shim/seal/sealtest"
)

// On a cluster, jobs do not run on OAR's server, so they cannot reach the sidecar's Unix socket. accordion step finds the sidecar's address
// in a file in the folder of oar.conf, and munge proves which user asks.
func asksOverTheNetwork(t *testing.T, lab *lab.OARLab) {
	// munged's socket is in /run/lab, which the nodes can see; each node has its own /tmp.
	munge := filepath.Join("/run/lab", strings.TrimPrefix(sealtest.MungedIn(t, filepath.Join(lab.Dir, "home")), lab.Dir))
	lab.Do(t, "serve-stop")
	config := filepath.Join(lab.Dir, "network.toml")
	text := lab.Run(t, "root", "cat", "/etc/accordion/accordion.toml") +
		fmt.Sprintf("\n[session]\nsocket = %q\nlisten = \"127.0.0.1:6820\"\nmunge_socket = %q\n", filepath.Join(lab.Dir, "elsewhere.sock"), munge)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "root", "sh", "-c", "echo '127.0.0.1:6820 "+munge+"' >/etc/oar/accordion.address")
	lab.Run(t, "root", "sh", "-c", "setsid accordion serve --config "+config+" >>"+filepath.Join(lab.Dir, "log", "accordion.log")+" 2>&1 </dev/null &")
	lab.Await(t, time.Minute, "the sidecar listens", func() bool {
		_, _, err := lab.Exec("root", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/6820")
		return err == nil
	})
	job := submitScript(t, lab, "alice", fmt.Sprintf(speaker, "1x20s,3x20s", 2, "2"))
	ends(t, lab, job)
	if got := stepSizes(t, lab, "alice", job); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("from inside, the steps of job %s, which asked over the network, had %v nodes, want 1, 3", job, got)
	}
	awaitNothingLeft(t, lab)
	nodesAreClean(t, lab)
}
