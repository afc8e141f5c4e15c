package slurm

import "testing"

func TestTheIdentityOfAClusterIsItsNameAndItsControllers(t *testing.T) {
	c, err := parseConfiguration(recorded(t, "config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.identity(); got != c["ClusterName"]+"-head-22017" {
		t.Errorf("identity %q, want the cluster's name, head and 22017", got)
	}
	twin, other := configuration{"ClusterName": "a", "SlurmctldHost[0]": "h"}, configuration{"ClusterName": "a", "SlurmctldHost[0]": "h"}
	for _, key := range []string{"ClusterName", "SlurmctldHost[0]", "SlurmctldPort"} {
		other[key] = "z"
		if other.identity() == twin.identity() {
			t.Errorf("two clusters of different %s have one identity %q", key, twin.identity())
		}
		twin[key] = "z"
	}
}
