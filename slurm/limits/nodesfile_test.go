package limits

import (
	"fmt"
	"strings"
	"testing"

	"accordion/slurm/output"
)

func TestTheFileOfNodesSaysHowManyThereAreOfEachKind(t *testing.T) {
	var text strings.Builder
	for n := range 3 {
		fmt.Fprintf(&text, "NodeName=n%d Arch=x86_64 CoresPerSocket=4 CPUEfctv=15 CPUTot=16 AvailableFeatures=ib,knl ActiveFeatures=ib Gres=gpu:a100:2(S:0,2),gpu:v100:1,tmp:no_consume:1G "+
			"OS=Linux 6.1 RealMemory=4000 Sockets=2 Boards=1 MemSpecLimit=500 State=IDLE ThreadsPerCore=2 TmpDisk=2000 Weight=1\n", n)
	}
	text.WriteString("NodeName=n9 Arch=x86_64 CoresPerSocket=1 CPUEfctv=1 CPUTot=1 AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null) " +
		"OS=Linux 6.1 RealMemory=100 Sockets=1 Boards=1 State=DOWN ThreadsPerCore=1 TmpDisk=0 Weight=1\n")
	text.WriteString("PartitionName=main Nodes=n[0-2,9] State=UP PriorityTier=1\nPartitionName=wide Nodes=n[0-1] State=UP PriorityTier=1\nPartitionName=others Nodes=n9 State=UP PriorityTier=1\n")
	in, err := output.ParseInventory(text.String())
	if err != nil {
		t.Fatal(err)
	}
	const big = `sockets = 2, cores = 4, threads = 2, mem = %d, tmp = 2000, features = { ["ib"] = true, ["knl"] = true }, ` +
		`gres = { ["gpu"] = 3, ["gpu:a100"] = 2, ["gpu:v100"] = 1, ["tmp"] = 1073741824 } },`
	want := `return {
	["main"] = {
		{ count = 1, cpus = 1, sockets = 1, cores = 1, threads = 1, mem = 100, tmp = 0, features = {  }, gres = {  } },
		{ count = 3, cpus = 15, ` + fmt.Sprintf(big, 3500) + `
	},
	["wide"] = {
		{ count = 2, cpus = 15, ` + fmt.Sprintf(big, 3500) + `
	},
}
`
	if first, got, _ := strings.Cut(NodesLua(in, []string{"main", "wide"}, true), "\n"); got != want || !strings.HasPrefix(first, "-- Written by accordion serve: what nodes there are. Read by job_submit.lua. sha256:") {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	if got := NodesLua(in, []string{"wide"}, false); !strings.Contains(got, fmt.Sprintf(big, 4000)) {
		t.Errorf("without allocation of memory it is\n%s", got)
	}
	for i := range mostKinds {
		n := in.Nodes[0]
		n.Name, n.Scratch = fmt.Sprintf("x%d", i), int64(i)
		in.Nodes = append(in.Nodes, n)
		in.Partitions[0].Nodes = append(in.Partitions[0].Nodes, n.Name)
	}
	if got := NodesLua(in, []string{"main"}, true); strings.Contains(got, "main") {
		t.Errorf("with very many kinds it is\n%.200s", got)
	}
}
