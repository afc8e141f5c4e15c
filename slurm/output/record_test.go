package output

import (
	"slices"
	"testing"

	"accordion/adapter"
)

func TestStatesOfJobs(t *testing.T) {
	for word, want := range map[string]adapter.State{
		"PENDING": adapter.Pending, "RESV_DEL_HOLD": adapter.Pending, "RUNNING": adapter.Running,
		"CONFIGURING": adapter.Running, "SUSPENDED": adapter.Running, "STOPPED": adapter.Running, "RESIZING": adapter.Running,
		"COMPLETING": adapter.Ending, "STAGE_OUT": adapter.Ending, "CANCELLED": adapter.Done, "NODE_FAIL": adapter.Done,
		"STATE_OF_A_LATER_RELEASE": adapter.Running,
	} {
		if got, _ := StateOf(word); got != want {
			t.Errorf("%s is %s, want %s", word, got, want)
		}
	}
}

func TestReasonsThatMeanNodes(t *testing.T) {
	for reason, want := range map[string]bool{
		"None": false, "Priority": false, "Resources": false, "ReqNodeNotAvail, May be reserved for other job": false,
		"ReqNodeNotAvail, UnavailableNodes:n3": true, "ReqNodeNotAvail, UnavailableNodes:": false, "Dependency": true,
		"BeginTime": true, "AssocGrpNodeLimit": true, "QOSMaxJobsPerUserLimit": true, "PartitionDown": true, "Licenses": true,
		"JobArrayTaskLimit": true, "Reservation": true, "PartitionTimeLimit": true,
	} {
		if got := blocked(reason); got != want {
			t.Errorf("%s: blocked %v, want %v", reason, got, want)
		}
	}
}

func TestTheBatchHostComesFirst(t *testing.T) {
	nodes := []string{"n1", "n3", "n7"}
	for host, want := range map[string][]string{
		"n1": {"n1", "n3", "n7"}, "n3": {"n3", "n1", "n7"}, "n7": {"n7", "n1", "n3"}, "": {"n1", "n3", "n7"}, "n9": {"n1", "n3", "n7"},
	} {
		if got := HostFirst(nodes, host); !slices.Equal(got, want) {
			t.Errorf("batch host %q: %v, want %v", host, got, want)
		}
	}
	if !slices.Equal(nodes, []string{"n1", "n3", "n7"}) {
		t.Errorf("the list, which other jobs share, became %v", nodes)
	}
}

func TestARequeuedJobWaitsForWhatItAsksForAndNotForWhatItHad(t *testing.T) {
	for _, test := range []struct {
		reservation, tres string
		want, most        int
	}{
		{Park, "cpu=1,mem=5400M,node=1,billing=1", 1, 1},
		{Park, "cpu=9,node=3", 3, 3},
		{Park, "", 3, 3},
		{"", "cpu=8,node=1", 3, 3}, // the job was never requeued, and Slurm only estimates how many nodes its tasks need
	} {
		r := Record{MaxNodes: 3, TRES: test.tres}
		r.Want, r.Reservation = 3, test.reservation
		r.SetState("PENDING", "", 0, 0)
		if r.Want != test.want || r.MaxNodes != test.most {
			t.Errorf("%+v: it waits for %d to %d nodes", test, r.Want, r.MaxNodes)
		}
	}
}

// Since 23.11 the option -c N appears as cpu=N in tres-per-task. This is not a generic resource. A public
// report has it as SLURM_TRES_PER_TASK=cpu:N:
//
//	https://github.com/scalableminds/webknossos-libs/issues/1483
func TestOnlyGenericResourcesAreGenericResources(t *testing.T) {
	for want, jobs := range map[bool][]Record{
		false: {
			{TRESPerTask: "cpu=2"}, {TRESPerTask: "cpu:2"}, {TRESPerTask: "cpu=2,license/matlab=1"}, {TRES: "cpu=8,mem=2000M,node=2,billing=8"}, {TRESPerNode: "gres:none"},
			{TRESPerNode: "gres:gpu:0"}, {TRESPerJob: "license/gres:1"}, {},
		},
		true: {
			{TRESPerTask: "cpu=2,gres/gpu=1"}, {TRESPerTask: "gres:gpu:1"}, {TRESPerNode: "gpu:2"}, {TRESPerNode: "gres:tmp:10G"}, {TRESPerJob: "gres/gpu:4"},
			{TRES: "cpu=8,node=2,gres/gpu=4"},
		},
	} {
		for _, r := range jobs {
			if got := r.WantsGRES(); got != want {
				t.Errorf("%q %q %q %q: it asks for generic resources: %t", r.TRESPerNode, r.TRESPerTask, r.TRESPerJob, r.TRES, got)
			}
		}
	}
}
