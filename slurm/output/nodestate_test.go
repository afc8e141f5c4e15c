package output

import (
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
)

// printedStates lists what each release can print as a node's state: the words of `scontrol show node` before the
// first +, each with every mark, and the flags. The sources are node_state_string, node_state_base_string and
// node_state_flags in slurm_protocol_defs.c, and for 20.11 slurm_sprint_node_table.
var printedStates = []struct {
	release             string
	bases, marks, flags string
}{
	{"20.11", "ALLOCATED CANCEL_REBOOT CLOUD COMPLETING DOWN DRAINED DRAINING ERROR FAIL FAILING FUTURE IDLE MAINT MIXED PERFCTRS POWERING_DOWN POWER_DOWN POWER_UP REBOOT RESERVED RESUME UNKNOWN",
		"#$%*+@~", "CLOUD COMPLETING DRAIN FAIL POWER POWERING_DOWN"},
	{"22.05", "ALLOCATED DOWN ERROR FUTURE IDLE INVALID MIXED UNKNOWN BLOCKED INVAL PLANNED POWERED_DOWN POWERING_UP REBOOT REBOOT_ISSUED RESERVED MAINT",
		"!#$%*+-@^~", "CLOUD COMPLETING DRAIN DYNAMIC_FUTURE DYNAMIC_NORM INVALID_REG FAIL MAINTENANCE POWER_DOWN POWER_UP PERFCTRS POWERED_DOWN REBOOT_REQUESTED REBOOT_ISSUED RESERVED RESUME NOT_RESPONDING PLANNED POWERING_UP POWERING_DOWN"},
	{"24.11", "ALLOCATED DOWN ERROR FUTURE IDLE INVALID MIXED UNKNOWN BLOCKED INVAL PLANNED POWERED_DOWN POWERING_UP REBOOT REBOOT_ISSUED RESERVED MAINT UNDRAIN",
		"!#$%*+-@^~", "BLOCKED CLOUD COMPLETING DRAIN DYNAMIC_FUTURE DYNAMIC_NORM INVALID_REG FAIL MAINTENANCE POWER_DOWN POWER_UP POWERED_DOWN REBOOT_REQUESTED REBOOT_ISSUED RESERVED RESUME NOT_RESPONDING PLANNED POWERING_UP POWERING_DOWN"},
	{"26.05", "ALLOCATED DOWN ERROR FUTURE IDLE INVALID MIXED UNKNOWN BLOCKED DYNAMIC_FUTURE DYNAMIC_NORM EXTERNAL INVAL PLANNED POWERED_DOWN POWERING_UP REBOOT REBOOT_ISSUED RESERVED MAINT UNDRAIN",
		"!#$%*+-@^~", "BLOCKED CLOUD COMPLETING DRAIN DYNAMIC_FUTURE DYNAMIC_NORM EXTERNAL INVALID_REG FAIL MAINTENANCE POWER_DOWN POWER_UP POWERED_DOWN REBOOT_REQUESTED REBOOT_ISSUED RESERVED RESUME NOT_RESPONDING PLANNED POWERING_UP POWERING_DOWN"},
}

func TestEveryStateOfEveryReleaseIsKnown(t *testing.T) {
	for _, r := range printedStates {
		for _, base := range strings.Fields(r.bases) {
			all := []string{base}
			for _, mark := range r.marks {
				all = append(all, base+string(mark))
			}
			for _, flag := range strings.Fields(r.flags) {
				all = append(all, base+"+"+flag, base+"*+"+flag, base+"+"+flag+"+DRAIN")
			}
			for _, state := range all {
				if got := readState(state); len(got.unknown) > 0 {
					t.Errorf("%s: unknown words of %s: %v", r.release, state, got.unknown)
				}
			}
		}
	}
}

func TestWhatAStateMeansForJobs(t *testing.T) {
	for state, want := range map[string]Use{
		"IDLE": Now, "MIXED+PLANNED": Now, "IDLE+RESERVED": Now, "IDLE+MAINTENANCE": Now, "ALLOCATED+COMPLETING": Now, "IDLE+DYNAMIC_NORM": Now, "MIXED-": Now, "ALLOCATED+": Now,
		"IDLE+CLOUD+POWERED_DOWN": Now, "IDLE+NOT_RESPONDING+POWERING_UP": Now, "IDLE*+POWERED_DOWN": Now, "IDLE+CLOUD+POWERING_DOWN": Now,
		"UNKNOWN": Later, "UNKNOWN*": Later, "IDLE+NOT_RESPONDING": Later, "IDLE*": Later, "IDLE+REBOOT_ISSUED": Later, "MIXED+REBOOT_REQUESTED": Later, "IDLE+BLOCKED": Later, "IDLE%": Later, "IDLE+PERFCTRS": Later, "REBOOT^": Later,
		"IDLE+DRAIN": Away, "MIXED+DRAIN": Away, "DRAINED": Away, "DOWN": Away, "DOWN*+DRAIN": Away, "IDLE+FAIL": Away, "FUTURE": Away, "IDLE+INVALID_REG+DRAIN": Away, "IDLE+INVALID_REG": Away, "IDLE+EXTERNAL": Away, "INVAL": Away,
		// https://github.com/aws/aws-parallelcluster-node/pull/350: 20.11 and 21.08 print these states for the same
		// nodes
		"DOWN*+CLOUD+POWER": Away, "DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING": Away, "MIXED#+CLOUD": Now, "MIXED+CLOUD+NOT_RESPONDING+POWERING_UP": Now, "MIXED+CLOUD+POWER": Now,
		// https://github.com/aws/aws-parallelcluster-node/pull/402
		"IDLE+CLOUD+POWER_DOWN+POWERED_DOWN": Now, "DOWN+CLOUD+POWER_DOWN+POWERED_DOWN+NOT_RESPONDING": Away,
		// https://github.com/rackslab/Slurm-web/issues/153 and https://github.com/hpc/pavilion2/issues/92
		"DOWN*+DRAIN*": Away, "MIXED+DRAIN+COMPLETING": Away,
		// https://github.com/SckyzO/slurm_exporter/pull/3
		"INVAL*":                   Away,
		"IDLE+DRAIN+REBOOT_ISSUED": Away, "DOWN+CLOUD+POWERED_DOWN": Away,
	} {
		if got := readState(state).use; got != want {
			t.Errorf("%s: %d, want %d", state, got, want)
		}
	}
}

// No job is planned on a node whose state has a word of a later release. The word is logged once for all nodes that
// have it.
func TestAnUnknownStateIsToldAndKeepsJobsOffTheNode(t *testing.T) {
	const part = "PartitionName=main Nodes=n[1-4] MaxTime=UNLIMITED State=UP\n"
	in, err := ParseInventory("NodeName=n1 CPUTot=2 State=IDLE\nNodeName=n2 CPUTot=2 State=IDLE+SLEEPWALKING\nNodeName=n3 CPUTot=2 State=MIXED+SLEEPWALKING\nNodeName=n4 CPUTot=2 State=IDLE?\n" + part)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Snapshot(in, nil, []string{"main"})
	if err != nil {
		t.Fatal(err)
	}
	var usable []string
	for _, n := range s.Nodes {
		if n.Usable || n.Away || n.Lost {
			usable = append(usable, n.Name)
		}
	}
	if !slices.Equal(usable, []string{"n1"}) {
		t.Errorf("usable, away or lost are %v, want n1", usable)
	}
	want := []adapter.Remark{
		{Text: `node state: Slurm prints "?", which Accordion does not know: jobs are kept off such nodes (now n4)`, Once: "node state ?"},
		{Text: `node state: Slurm prints "SLEEPWALKING", which Accordion does not know: jobs are kept off such nodes (now n[2-3])`, Once: "node state SLEEPWALKING"},
	}
	if !slices.Equal(s.Remarks, want) {
		t.Errorf("it remarks\n%+v, want\n%+v", s.Remarks, want)
	}
}
