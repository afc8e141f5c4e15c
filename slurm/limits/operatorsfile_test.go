package limits

import (
	"slices"
	"testing"

	"accordion/slurm/output"
)

func TestOperatorsAreThoseWhomSlurmLetsAdministerAllJobs(t *testing.T) {
	c := output.Configuration{"SlurmUser": "slurm(64030)"}
	for _, c := range []struct {
		name, users string
		conf        output.Configuration
		want        []uint32
	}{
		{"no accounting", "Current Association Manager state\n", c, []uint32{64030}},
		{"each level", "Current Association Manager state\n\nUser Records\n\nUserName=root(0) DefAccount=root DefWckey=(null) AdminLevel=Administrator\n" +
			"UserName=alice(1001) DefAccount=phys DefWckey=(null) AdminLevel=None\nUserName=olga(1002) DefAccount=phys DefWckey=(null) AdminLevel=Operator\n" +
			"UserName=adam(1003) DefAccount=phys DefWckey=(null) AdminLevel=Administrator\nUserName=nora(1004) DefAccount=phys DefWckey=(null) AdminLevel=Not Set\n", c, []uint32{1002, 1003, 64030}},
		{"users of no directory", "UserName=gone(4294967294) DefAccount=phys AdminLevel=Operator\nUserName=odd() AdminLevel=Operator\nUserName=x AdminLevel=Operator\n", c, []uint32{64030}},
		{"an account of that name", "UserName=eve(1005) DefAccount=a DefWckey=AdminLevel=Operator AdminLevel=None\n", c, []uint32{64030}},
		{"an account with a blank in its name", "Account=x UserName=eve(1005) AdminLevel=Operator\n", c, []uint32{64030}},
		{"SlurmUser is root", "", output.Configuration{"SlurmUser": "root(0)"}, nil},
		{"nothing is known", "", nil, nil},
	} {
		if got := Operators(c.users, c.conf); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
