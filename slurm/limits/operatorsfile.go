package limits

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"accordion/slurm/output"
)

// OperatorsFile is the name of the file that lists the users, other than root, who may change managed jobs. It is
// in the folder of the file of limits. job_submit.lua reads it, because it knows the uid of the user who changes a
// job, but cannot look up that user's AdminLevel.
const OperatorsFile = "accordion_operators.lua"

// unknown is the uid that Slurm prints for a user who is not in the directory.
const unknown = 1<<32 - 2

// Operators returns the uids of SlurmUser and of the users who may administer all jobs. `users` is the output of
// `scontrol --oneliner show assoc_mgr flags=users`. Coordinators of accounts may not administer all jobs.
func Operators(users string, c output.Configuration) []uint32 {
	found := map[uint32]bool{}
	add := func(user string) {
		_, number, _ := strings.Cut(strings.TrimSuffix(user, ")"), "(")
		if n, err := strconv.ParseUint(number, 10, 32); err == nil && n > 0 && n < unknown {
			found[uint32(n)] = true
		}
	}
	add(c["SlurmUser"])
	for line := range strings.Lines(users) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "UserName=") {
			continue
		}
		switch output.Field(line, "AdminLevel") {
		case "Operator", "Administrator":
			add(output.Field(line, "UserName"))
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// OperatorsLua returns the Lua text that lists the operators.
func OperatorsLua(all []uint32) string {
	var b strings.Builder
	b.WriteString("return {\n")
	for _, n := range all {
		fmt.Fprintf(&b, "\t[%d] = true,\n", n)
	}
	b.WriteString("}\n")
	return withDigest("who may change managed jobs besides root", b.String())
}
