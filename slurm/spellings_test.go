package slurm_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/slurm/output"
)

// A `cell` is one attempt to name another user's job, reservation or allocation. It uses a client program, a verb,
// and a text in one spelling.
type cell struct{ client, verb, text string }

// spellings lists texts that Slurm, or a reader of its source, could take for the name of job %R, the reservations
// of job %W, or allocations of the sidecar. %O is one of the user's own jobs.
var spellings = map[string][]string{
	"dependency": {"expand:%R", "EXPAND:%R", "Expand:%R", "eXpAnD:%R", " expand:%R", "expand:%R ", "EXPAND: %R", "\tEXPAND:%R", "afterok:%O,EXPAND:%R", "afterany:%O?Expand:%R",
		"EXPAND:%R,afterany:%O", "singleton,EXPAND:%R", "afterany:%O:%O,EXPAND:%R", "EXPAND:%R_0", "expand:%R_1", "expand:%R_*", "EXPAND:%R+1", "expandx:%R", "expand\\:%R"},
	"reservation": {"accordion-%W-0", "ACCORDION-%W-0", "Accordion-Park", "accordion-park", " accordion-park", "accordion-park,", ",accordion-park", "mine,accordion-park",
		"mine, accordion-%W-0", "accordion-park,accordion-%W-0"},
	"name": {"accordion-grow-%R", "ACCORDION-GROW-%R", "Accordion-With-%R", " accordion-over-%R"},
}

// clientsOf lists the ways in which clients support each verb: options, a line of the script, environment
// variables, updates and slurmrestd. The variables SBATCH_DEPENDENCY, SALLOC_DEPENDENCY and SALLOC_JOB_NAME do not
// exist.
var clientsOf = map[string][]string{
	"dependency":  {"sbatch", "line", "salloc", "srun", "srun-environment", "update", "rest"},
	"reservation": {"sbatch", "line", "salloc", "srun", "sbatch-environment", "salloc-environment", "srun-environment", "update", "rest"},
	"name":        {"sbatch", "line", "salloc", "srun", "sbatch-environment", "srun-environment", "update", "rest"},
}

// hostileCells returns all cells that must be rejected. If `few` is set, it returns only some of the spellings.
func hostileCells(few bool, words *strings.Replacer) (all []cell) {
	for _, verb := range []string{"dependency", "reservation", "name"} {
		texts := spellings[verb]
		if few {
			texts = texts[:2]
		}
		for _, text := range texts {
			for _, client := range clientsOf[verb] {
				all = append(all, cell{client, verb, words.Replace(text)})
			}
		}
	}
	return all
}

// trySpellings tries cells as the user, who has a pending job. For each cell it returns the client's status and
// output, and the changes in squeue. It splits the cells over several calls of the lab, because each call has a
// deadline.
func trySpellings(t *testing.T, lab *lab.SlurmLab, user, waiting string, all []cell) [][]string {
	t.Helper()
	script, err := os.ReadFile("testdata/spellings.sh")
	if err != nil {
		t.Fatal(err)
	}
	var results [][]string
	for part := range slices.Chunk(all, 50) {
		var input strings.Builder
		for _, c := range part {
			fmt.Fprintf(&input, "%s\x1f%s\x1f%s\n", c.client, c.verb, c.text)
		}
		out, said, err := lab.Exec(user, input.String(), "bash", "-c", string(script), "spellings", waiting)
		before := len(results)
		for line := range strings.Lines(out + "\n") {
			if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\x1f"); len(fields) == 3 {
				results = append(results, fields)
			}
		}
		if err != nil || len(results)-before != len(part) { // the caller checks the results that exist
			t.Errorf("%d of %d cells: %v %s %s", len(results)-before, len(part), err, out, said)
			break
		}
	}
	return results
}

// Slurm accepts the words of a dependency in upper and lower case, and several dependencies in one text. Clients have
// many ways to pass a dependency.
func TestNoSpellingOfAnyClientReachesAnotherUsersJob(t *testing.T) {
	for _, release := range []string{"", "20.11", "24.11", "26.05"} {
		name := release
		if name == "" {
			name = "this machine's"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := []lab.Option{lab.Users("alice", "bob"), lab.Fast(), lab.Config(scratch)}
			if release != "" {
				options = append(options, lab.Release(release))
			}
			l := lab.Slurm(t, 4, options...)
			assertSpellingsRefused(t, l)
			assertRequestsAsWritten(t, l)
		})
	}
}

func assertSpellingsRefused(t *testing.T, lab *lab.SlurmLab) {
	lab.Do(t, "serve")
	auditAtEnd(t, lab)
	squeue := func(job, format string) string {
		return retryAs(t, lab, "root", "squeue", "-h", "-j", job, "-o", format)
	}
	running := lab.Submit(t, "alice", "#EP 1x2h,2x1h\nsleep 600")
	lab.Await(t, 2*time.Minute, "a managed job runs", func() bool { return squeue(running, "%t %v") == "R (null)" })
	waits := lab.Submit(t, "alice", "#EP 4x10m,2x5m\ntrue")
	lab.Await(t, 2*time.Minute, "another one waits for its reservation", func() bool {
		return squeue(waits, "%t %v") == "PD "+output.Park && strings.Contains(retryAs(t, lab, "root", "scontrol", "-o", "show", "reservation"), "accordion-"+waits+"-0 ")
	})
	own, users := map[string]string{}, []string{"bob", "alice"}
	for _, user := range users {
		own[user] = lab.Submit(t, user, "true", "-N1", "-n1", "-t1", "--begin=now+2hours")
	}
	for _, user := range users {
		all := hostileCells(user == "alice", strings.NewReplacer("%R", running, "%W", waits, "%O", own[user]))
		for i, got := range trySpellings(t, lab, user, own[user], all) {
			said := strings.ToLower(got[1])
			refused := strings.Contains(said, "accordion: ") || strings.Contains(said, "denied") || strings.Contains(said, "invalid") || strings.Contains(said, "dependency problem")
			if got[0] == "0" || got[0] == "124" || !refused || got[2] != "" {
				t.Errorf("%q as %s: status %s, %s\n%s", all[i], user, got[0], got[1], got[2])
			}
		}
	}
	if got := squeue(running, "%t %D %u"); got != "R 1 alice" {
		t.Errorf("the job that runs is %q", got)
	}
	for _, user := range users { // without this Slurm might reject a client for another reason
		var all []cell
		for _, client := range clientsOf["name"] {
			all = append(all, cell{client, "name", "harmless"})
		}
		for i, got := range trySpellings(t, lab, user, own[user], all) {
			if got[0] != "0" {
				t.Errorf("%q as %s, which is harmless: status %s, %s", all[i], user, got[0], got[1])
			}
		}
	}
}
