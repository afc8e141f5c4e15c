package managed

import (
	"testing"

	"accordion/core"
)

func TestUsedAndUnusedNodeSeconds(t *testing.T) {
	for _, test := range []struct {
		name         string
		ep           core.EP
		step         int
		promise      []core.Time
		end          core.Time // the job began at 1000
		unreserved   bool
		used, unused core.Time
	}{
		{name: "it ends before it grows", ep: core.EP{{Duration: 60, Nodes: 1}, {Duration: 60, Nodes: 16}}, promise: []core.Time{1060, 1120}, end: 1059, used: 59, unused: 15 * 59},
		{name: "it fails at once", ep: core.EP{{Duration: 60, Nodes: 1}, {Duration: 36000, Nodes: 16}}, promise: []core.Time{1060, 37060}, end: 1001, used: 1, unused: 15},
		{name: "it has grown", ep: core.EP{{Duration: 60, Nodes: 1}, {Duration: 60, Nodes: 16}}, step: 1, promise: []core.Time{1060, 1120}, end: 1070, used: 60 + 160},
		{name: "it only shrinks", ep: core.EP{{Duration: 60, Nodes: 16}, {Duration: 60, Nodes: 1}}, promise: []core.Time{1060, 1120}, end: 1030, used: 480},
		{name: "it would grow to what it had before", ep: core.EP{{Duration: 60, Nodes: 4}, {Duration: 60, Nodes: 1}, {Duration: 60, Nodes: 4}}, step: 1, promise: []core.Time{1060, 1120, 1180}, end: 1110, used: 240 + 50, unused: 3 * 60},
		{name: "nothing was reserved ahead", ep: core.EP{{Duration: 60, Nodes: 1}, {Duration: 60, Nodes: 16}}, promise: []core.Time{1060, 1120}, end: 1059, unreserved: true, used: 59},
	} {
		r := &Job{Record: Record{Began: 1000, Step: test.step, Promise: test.promise, Unreserved: test.unreserved}, Choices: []core.EP{test.ep}}
		if used, unused := r.Used(test.end); used != test.used || unused != test.unused {
			t.Errorf("%s: %d node-seconds used and %d unused, want %d and %d", test.name, used, unused, test.used, test.unused)
		}
	}
	if used, unused := (&Job{}).Used(1000); used != 0 || unused != 0 {
		t.Errorf("a job that waits uses %d node-seconds, and leaves %d unused", used, unused)
	}
}
