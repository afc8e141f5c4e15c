package slurm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAJobReachesTheSidecarOverTheNetwork(t *testing.T) {
	t.Parallel()
	lab := defaultLab(t)
	lab.Do(t, "serve")
	t.Cleanup(func() { lab.Do(t, "serve-stop") })
	auditAtEnd(t, lab)
	// The jobs run as on a host without the sidecar's socket. The first job gets the address from the plug-in, and
	// the second reads it from the file in the folder of slurm.conf.
	job := lab.Submit(t, "alice", `#!/bin/bash
#EP 1x5s,3x5s,2x60s
unset ACCORDION_SOCKET
echo "address ${ACCORDION_ADDRESS:-is not told}"
eval "$(accordion step)"
echo "step $ACCORDION_STEP on $SLURM_NNODES: $?"
unset ACCORDION_ADDRESS ACCORDION_MUNGE_SOCKET
eval "$(accordion step)"
echo "step $ACCORDION_STEP on $SLURM_NNODES: $?"
sleep 1000
`)
	for _, line := range []string{"address 127.0.0.1:", "step 2 on 3: 0", "step 3 on 2: 0"} {
		lab.Await(t, 3*time.Minute, fmt.Sprintf("the job prints %q", line), func() bool { return strings.Contains(outputOf(lab, "alice", job), line) })
	}

	step := "unset ACCORDION_SOCKET; SLURM_JOB_ID=" + job + " accordion step --timeout 20s"
	if _, said, err := lab.Exec("bob", "", "sh", "-c", step); err == nil || !strings.Contains(said, "not yours") {
		t.Errorf("another user acts for the job: %v: %s", err, said)
	}
	runClient(t, lab, "scancel", job)
}
