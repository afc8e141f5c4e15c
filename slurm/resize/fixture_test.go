package resize

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/cluster"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// A fixture is a Resizer on a Slurm that is simulated in this process. Job 46 of alice started an hour ago, and
// runs a script on n1 and n2 of partition main. The clock is synctest's.
type fixture struct {
	*testing.T
	*Resizer
	slurm   *clienttest.Slurm
	lost    [][]string // arguments of Lost
	limited int        // calls of Limited
}

// onSlurm runs a test on a fixture whose Slurm has the given release and additional settings.
func onSlurm(t *testing.T, release string, settings map[string]string, do func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &fixture{T: t, slurm: clienttest.NewSlurm(t, release)}
		b.slurm.Set("TaskPlugin", "task/none")
		for key, value := range settings {
			b.slurm.Set(key, value)
		}
		run := client.New(client.Config{Bin: b.slurm.Bin, Execute: b.slurm.Execute, Timeout: 20 * time.Second, AtOnce: 6})
		t.Cleanup(run.Close)
		b.Resizer = New(cluster.New(run, []string{"main"}, growth.Auto))
		b.Lost = func(_ context.Context, nodes []string) error { b.lost = append(b.lost, nodes); return nil }
		b.Limited = func() { b.limited++ }
		b.slurm.Add(clienttest.Job{ID: 46, Nodes: []string{"n1", "n2"}, Batch: true, Limit: 120, Submitted: time.Now().Unix() - 3600, Started: time.Now().Unix() - 3600})
		b.slurm.Reserve(clienttest.Reservation{Name: "accordion-46-1", User: "alice", Nodes: []string{"n3", "n4", "n5"}, Flags: "OVERLAP", Start: time.Now().Unix(), End: time.Now().Unix() + 600})
		time.Sleep(1500 * time.Millisecond)
		do(b)
	})
}

// overlaps makes jobs grow by overlap.
func (b *fixture) overlaps() {
	b.slurm.Set("TaskPlugin", "task/affinity")
	b.slurm.SetPartition("main", "OverSubscribe", "YES:2")
	b.slurm.SetPartition("main", "ExclusiveUser", "YES")
}

// companions makes jobs grow by companions.
func (b *fixture) companions() { b.Growth = growth.Companions }

func (b *fixture) key(id int) adapter.Key {
	return adapter.Key{ID: core.JobID(id), Submitted: b.slurm.Job(id).Submitted}
}

func (b *fixture) record(id int) *output.Record {
	b.Helper()
	r, err := b.Jobs.Find(b.Context(), b.key(id))
	b.ok(err)
	return r
}

// ok fails the test if there is an error.
func (b *fixture) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// says fails the test unless the error contains the words.
func (b *fixture) says(err error, words string) {
	b.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		b.Fatalf("%v, want %q", err, words)
	}
}

// expand allocates nodes for job 46 in its reservation.
func (b *fixture) expand(nodes ...string) (adapter.Key, error) {
	return b.Expand(b.Context(), &adapter.Job{Key: b.key(46)}, nodes, "accordion-46-1")
}

// did checks the changing commands since its last call, and fails the test unless they begin with the wanted texts.
func (b *fixture) did(want ...string) {
	b.Helper()
	got := b.slurm.Log()
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		b.Fatalf("did\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// holds fails the test unless the job runs on the nodes.
func (b *fixture) holds(id int, nodes ...string) {
	b.Helper()
	if j := b.slurm.Job(id); !slices.Equal(j.Nodes, nodes) || j.State != "RUNNING" {
		b.Fatalf("job %d is %s on %v, want it to run on %v", id, j.State, j.Nodes, nodes)
	}
}

// siteOf returns the settings that decide how the fixture's jobs grow.
func siteOf(b *fixture) growth.Site {
	b.Helper()
	c, err := b.Recent(b.Context())
	b.ok(err)
	return growth.SiteOf(c)
}
