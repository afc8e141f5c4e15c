package slurm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The test kills slurmctld in the second in which a step begins. No srun of the job ended shortly before the kill,
// because a killed slurmctld may assume that such an srun still runs; that happens without a sidecar, too. The
// step's srun is refused while slurmctld does not know its nodes yet, and retries a minute later. A second job
// exceeds its time. The sidecar ends it, and the job's output has the reason, although slurmctld did not answer the
// first attempts to write it.
func TestATimeInWhichSlurmctldDidNotAnswerEndsNoJob(t *testing.T) {
	if !*long {
		t.Skip("an srun waits for two minutes; the embedded system shows it too: -args -accordion.long")
	}
	t.Parallel()
	lab := faultLab(t, 4)
	c := newClients(t)
	p := serving(t, lab, c.setting())
	job := lab.Submit(t, "alice", `#!/bin/bash
#EP 1x8s,2x8s,1x8s
say() { echo "step ${ACCORDION_STEP:-1} on $SLURM_NNODES"; }
say
sleep 6
eval "$(accordion step)" || exit 1
say
touch begun; until [ -e away ]; do sleep 0.1; done
begin=$SECONDS
srun sleep 6
echo "srun took $((SECONDS-begin)) s" >took
eval "$(accordion step)" || exit 1
say
srun sleep 6
echo done
`)
	lab.Await(t, 2*time.Minute, "its second step begins", func() bool { return exists(lab.Dir, "home", "alice", "begun") })
	lab.Do(t, "ctl-stop", "--kill")
	lab.Run(t, "alice", "touch", "away")
	time.Sleep(time.Second) // time for the job's srun to call slurmctld; no event shows that while slurmctld is down
	lab.Do(t, "ctl-start")

	late := lab.Submit(t, "bob", "#!/bin/bash\n#EP 1x10s\nsleep 300\n")
	if err := os.WriteFile(filepath.Join(c.dir, "refusals"), []byte("..."), 0o644); err != nil {
		t.Fatal(err)
	}
	c.hook(fmt.Sprintf(`case "$name $*" in
"scontrol notify %s accordion ends"*) left=$(cat "$here/refusals")
	if [ -n "$left" ]; then
		printf %%s "${left#.}" >"$here/refusals"
		echo "scontrol_notify error: Unable to contact slurm controller (connect failure)" >&2
		exit 1
	fi ;;
esac`, late))

	awaitEnded(t, lab, 5*time.Minute, job, late)
	steps := regexp.MustCompile(`(?m)^(step \d on \d|done)$`).FindAllString(outputOf(lab, "alice", job), -1) // this leaves out srun's own messages
	if got := strings.Join(steps, " "); got != expectedOutput(1, 2, 1) {
		t.Errorf("job %s: %q, want %q\n%s", job, got, expectedOutput(1, 2, 1), outputOf(lab, "alice", job))
	}
	t.Logf("%s; job %s reads\n%s", lab.File("alice", "took"), job, outputOf(lab, "alice", job))
	stalled := regexp.MustCompile(`srun took ([4-9]\d|\d{3,}) s`).MatchString(lab.File("alice", "took"))
	if excused := len(p.events(job, "excused")) > 0; stalled && !(excused && strings.Contains(outputOf(lab, "alice", job), "accordion: the batch system did not answer from ")) {
		t.Errorf("its srun could not start, event excused: %t, and its output is\n%s", excused, outputOf(lab, "alice", job))
	}
	if !stalled {
		t.Log("its srun was not kept from starting")
	}
	if got := outputOf(lab, "bob", late); !strings.Contains(got, "accordion ends this job: step 1 of 1 was to end at ") {
		t.Errorf("the late job reads\n%s", got)
	}
	if left, err := os.ReadFile(filepath.Join(c.dir, "refusals")); err != nil || len(left) > 0 {
		t.Errorf("three refusals leave %q, error %v", left, err)
	}
	assertClean(t, p)
}

func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}
