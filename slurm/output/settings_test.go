package output

import (
	"testing"

	"accordion/core"
	"accordion/slurm/output/outputtest"
)

func TestTheIdentityOfAClusterIsItsNameAndItsControllers(t *testing.T) {
	c, err := ParseConfiguration(outputtest.Recorded(t, "config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Identity(); got != c["ClusterName"]+"-head-22017" {
		t.Errorf("identity %q, want the cluster's name, head and 22017", got)
	}
	twin, other := Configuration{"ClusterName": "a", "SlurmctldHost[0]": "h"}, Configuration{"ClusterName": "a", "SlurmctldHost[0]": "h"}
	for _, key := range []string{"ClusterName", "SlurmctldHost[0]", "SlurmctldPort"} {
		other[key] = "z"
		if other.Identity() == twin.Identity() {
			t.Errorf("two clusters of different %s have one identity %q", key, twin.Identity())
		}
		twin[key] = "z"
	}
}

func FuzzConfiguration(f *testing.F) {
	f.Add(outputtest.Recorded(f, "config.txt"))
	f.Fuzz(func(t *testing.T, out string) {
		c, err := ParseConfiguration(out)
		if err != nil {
			return
		}
		if c.Grace(nil) < sweep {
			t.Errorf("a guard of %d s is below the sweep", c.Grace(nil))
		}
		c.NeedsDatabase()
	})
}

func TestTheBackfillWaitFollowsItsInterval(t *testing.T) {
	for parameters, want := range map[string]core.Time{
		"(null)": 45, "permit_job_expansion": 45, "permit_job_expansion,bf_interval=120": 135, "bf_interval=1,defer": 45, "bf_interval=x": 45,
		"bf_interval=99999999999999999999": 45,
	} {
		if got := (Configuration{"SchedulerParameters": parameters}).BackfillWait(); got != want {
			t.Errorf("with SchedulerParameters=%s a job may wait %d s for its round, want %d", parameters, got, want)
		}
	}
}

func TestTheGraceFollowsTheConfiguration(t *testing.T) {
	c, err := ParseConfiguration(outputtest.Recorded(t, "config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Grace([]Partition{{overTime: "NONE"}}); got != 60 {
		t.Errorf("guard %d s, want the sweep's 30 and KillWait's 30", got)
	}
	if got := c.Grace([]Partition{{overTime: "NONE"}, {overTime: "5"}}); got != 360 {
		t.Errorf("guard %d s with a partition's OverTimeLimit of 5 minutes, want 360", got)
	}
	c["OverTimeLimit"] = "UNLIMITED"
	if got := c.Grace(nil); got != core.Forever {
		t.Errorf("guard %d s though limits are not enforced", got)
	}
	for version, want := range map[string]bool{
		"20.11.9": false, "21.08.7": false, "21.08.8-2": true, "22.05.8": true, "23.11.10": true, "24.05.1": true, "24.11.0": false,
		"25.05.0-rc1": false, "x": false,
	} {
		if got := (Configuration{"SLURM_VERSION": version}).NeedsDatabase(); got != want {
			t.Errorf("Slurm %s needs slurmdbd to resize: %v, want %v", version, got, want)
		}
	}
}

func TestAShrinkByNodesAloneIsCountedFromTheJobsStartOnLaterReleases(t *testing.T) {
	for version, want := range map[string]bool{"20.11.4": false, "22.05.8": false, "23.11.4": false, "23.11.5": true, "24.05.0": true, "24.11.5": true, "26.05.5": true} {
		if got := (Configuration{"SLURM_VERSION": version}).Recounts(); got != want {
			t.Errorf("%s: %v, want %v", version, got, want)
		}
	}
}
