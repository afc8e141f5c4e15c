package output

import (
	"strings"
	"testing"
)

func TestAPartitionThatIsClosedIsReported(t *testing.T) {
	for _, c := range []struct {
		state string
		grows bool
		want  string
	}{
		{"UP", true, ""}, {"", true, ""}, {"DRAIN", false, ""}, {"DRAIN", true, "partition main is in state DRAIN: Slurm takes no new allocation"},
		{"DOWN", false, "partition main is in state DOWN: Slurm starts no job there"}, {"INACTIVE", true, "partition main is in state INACTIVE: Slurm starts no job there"},
		{"OF_A_LATER_RELEASE", true, ""},
	} {
		in := Inventory{Partitions: []Partition{{Name: "other", State: "DOWN"}, {Name: "main", State: c.state}}}
		r := Record{}
		r.Partition = "other,main"
		if got := in.ClosedReason(&r, []string{"main"}, c.grows); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s, grows %v: %q, want %q", c.state, c.grows, got, c.want)
		}
	}
}
