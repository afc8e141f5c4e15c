package resize

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/cluster"
	"accordion/slurm/growth"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"
)

// handOn returns a hand on a scontrol that shows running jobs 46, with n1 and n2, and 47 and 48, which are its expanders. The log has
// the second of each update, and the update.
func handOn(t *testing.T, release string) (h *Hand, log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "updates")
	for id, words := range map[int]outputtest.Words{46: {Name: "wrap"}, 47: {Name: "accordion-grow-46"}, 48: {Name: "accordion-over-46"}} {
		words.Host, words.Command, words.Output = "login1", "/home/alice/run", "/home/alice/out"
		p := outputtest.Printed{ID: id, Submitted: 1795000000, User: "alice", UID: 1001, Priority: 9, State: "RUNNING", Nodes: "n1", Words: words}
		line := strings.Replace(p.Line(outputtest.Stamp), "NodeList=n1 ", "NodeList=n[1-2] ", 1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("job-", id)), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scontrol := clienttest.Speaking(dir, `stamp=${SLURM_TIME_FORMAT%\%s}
	case $line in
	"show job "*) sed "s/`+outputtest.Stamp+`/$stamp/g" `+dir+`/job-${line##* } ;;
	"show config") echo "SLURM_VERSION = `+release+`" ;;
	"update "*) echo "$(date +%s) $line" >>`+log+` ;;
	*) echo "SLURM_VERSION = `+release+`" ;;
	esac`)
	run := client.New(client.Config{Bin: clienttest.Programs(t, map[string]string{"scontrol": scontrol}), Timeout: time.Minute, AtOnce: 2})
	t.Cleanup(run.Close)
	return New(cluster.New(run, []string{"main"}, growth.Auto)), log
}

// A merge, a shrink, a merge and its undoing follow each other at once, as in a growth that goes wrong.
func TestMergesAndShrinksOfAJobHaveSecondsOfTheirOwn(t *testing.T) {
	for release, shrink := range map[string]string{"22.05.8": "NodeList=n1", "24.11.5": "NodeList=n1 NumNodes=1"} {
		t.Run(release, func(t *testing.T) { t.Parallel(); changesHaveSecondsOfTheirOwn(t, release, shrink) })
	}
}

func changesHaveSecondsOfTheirOwn(t *testing.T, release, shrink string) {
	h, log := handOn(t, release)
	ctx := t.Context()
	key := func(id int64) adapter.Key { return adapter.Key{ID: core.JobID(id), Submitted: 1795000000} }
	record := func(id int64) *output.Record {
		r, err := h.Jobs.Find(ctx, key(id))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	parent := record(46)
	for _, change := range []func() error{
		func() error { return h.merge(ctx, growth.Site{}, parent, record(48)) },
		func() error { return h.keep(ctx, parent, []string{"n1"}) },
		func() error { return h.merge(ctx, growth.Site{}, parent, record(47)) },
		func() error { return h.Undo(ctx, parent.Key, []string{"n2"}) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var seconds []int
	var changes []string
	for line := range strings.Lines(string(text)) {
		word, change, _ := strings.Cut(strings.TrimSpace(line), " ")
		second, _ := strconv.Atoi(word)
		seconds, changes = append(seconds, second), append(changes, change)
	}
	if len(slices.Compact(slices.Clone(seconds))) != 4 || !slices.IsSorted(seconds) {
		t.Errorf("%s: changes in the seconds %v, want four of them", release, seconds)
	}
	want := []string{"update JobId=48 NumNodes=0", "update JobId=46 " + shrink, "update JobId=47 NumNodes=0", "update JobId=46 " + shrink}
	if !slices.Equal(changes, want) {
		t.Errorf("%s: got  %q\nwant %q", release, changes, want)
	}
}
