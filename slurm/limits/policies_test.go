package limits

import (
	"fmt"
	"strings"
	"testing"

	"accordion/slurm/output"
)

// assocMgr returns slurmctld's record of bob in account chem and of the QOS normal, with the given limits.
func assocMgr(user, account, qos, eachUser string) string {
	return strings.Join([]string{
		"ClusterName=lab Account=root UserName= Partition= Priority=0 ID=1 SharesRaw/Norm/Level/Factor=1/0.00/1/0.00 ParentAccount= Lft=1-8 DefAssoc=No GrpJobs=N(1) GrpTRES=node=N(2) MaxTRESPJ=",
		"ClusterName=lab Account=chem UserName= Partition= Priority=0 ID=2 SharesRaw/Norm/Level/Factor=1/0.00/1/0.00 ParentAccount=root(1) Lft=2-7 DefAssoc=No GrpJobs=N(1) " + account,
		"ClusterName=lab Account=chem UserName=bob(995) Partition= Priority=0 ID=3 SharesRaw/Norm/Level/Factor=1/0.00/1/0.50 ParentAccount=chem(2) Lft=3-4 DefAssoc=Yes GrpJobs=N(1) " + user,
		"QOS=normal(1) UsageRaw=0.0 GrpJobs=N(1) " + qos + " MaxTRESPN= Account Limits= chem={MaxJobsPA=N(1) MaxTRESPA=node=N(2)} User Limits= 995={MaxJobsPU=N(1) " + eachUser + "}",
	}, "\n")
}

func TestTheLowestLimitThatCountsForAJobIsItsCeiling(t *testing.T) {
	for _, test := range []struct {
		user, account, qos, eachUser string
		has, ever, now               int
		why                          string
	}{
		{"GrpTRES=node=N(2)", "GrpTRES=", "GrpTRES=", "MaxTRESPU=", 2, -1, -1, ""},
		{"GrpTRES=node=3(2)", "GrpTRES=", "GrpTRES=", "MaxTRESPU=", 2, 3, 3, "the limit of user bob in account chem is node=3"},
		{"GrpTRES=node=3(3)", "GrpTRES=", "GrpTRES=", "MaxTRESPU=", 1, 3, 1, "the limit of user bob in account chem is node=3"},
		{"GrpTRES=", "GrpTRES=cpu=9(4)", "GrpTRES=", "MaxTRESPU=", 2, 4, 4, "the limit of account chem is cpu=9"},
		{"MaxTRESPJ=node=2", "GrpTRES=", "GrpTRES=", "MaxTRESPU=", 1, 2, 2, "the limit of each job of user bob in account chem is node=2"},
		{"GrpTRES=", "GrpTRES=", "MaxTRESPJ=node=4", "MaxTRESPU=node=5(2)", 1, 4, 4, "the limit of each job of QOS normal is node=4"},
		// A limit of a QOS replaces only the association's limit of the same kind.
		{"GrpTRES=node=3(2)", "GrpTRES=", "GrpTRES=node=8(2)", "MaxTRESPU=", 2, 8, 8, "the limit of QOS normal is node=8"},
		{"GrpTRES=node=3(2)", "GrpTRES=", "MaxTRESPJ=node=8", "MaxTRESPU=", 2, 3, 3, "the limit of user bob in account chem is node=3"},
		{"GrpTRES=node=3(2)", "GrpTRES=", "GrpTRES=", "MaxTRESPU=node=5(2)", 2, 3, 3, "the limit of user bob in account chem is node=3"},
	} {
		name := fmt.Sprint(test.user, " ", test.account, " ", test.qos, " ", test.eachUser)
		p := Parse(assocMgr(test.user, test.account, test.qos, test.eachUser))
		r := &output.Record{Account: "chem"}
		r.User, r.UID, r.QOS = "bob", 995, "normal"
		ever, now := p.Ceilings(r, test.has, Need{Each: map[string]int64{"node": 1, "cpu": 2}})
		if ever.nodes != test.ever || now.nodes != test.now || ever.why != test.why {
			t.Errorf("%s: ever %d (%s), now %d; want %d (%s), %d", name, ever.nodes, ever.why, now.nodes, test.ever, test.why, test.now)
		}
	}
}

func TestThePluginIsToldWhichQOSOutranksAssociations(t *testing.T) {
	for _, test := range []struct{ qos, want string }{
		{"GrpTRES=node=8(2)", `["normal"] = { nodes = 8, why = "the limit of QOS normal is node=8", outranks = true },`},
		{"GrpTRES=gres/gpu=8(2)", "\tqos = {\n\t},"},
	} {
		p := Parse(assocMgr("GrpTRES=node=3(2)", "", test.qos, ""))
		text := p.Lua(Need{Each: map[string]int64{"node": 1, "cpu": 2}})
		for _, want := range []string{test.want, `["chem/995"] = { nodes = 3, why = "the limit of user bob in account chem is node=3" },`} {
			if !strings.Contains(text, want) {
				t.Errorf("with %s there is no %s in\n%s", test.qos, want, text)
			}
		}
	}
}

// sacctmgr prints memory with its unit, slurmctld in MB.
func TestALimitOfMemoryIsReadWithItsUnit(t *testing.T) {
	p := Parse(assocMgr("GrpTRES=", "GrpTRES=mem=9000(1000)", "", ""))
	p.SetEach(ParseEach("normal|cpu=2K,mem=1.50G|gres/gpu:a100=4\n"))
	r := &output.Record{Account: "chem"}
	r.User, r.UID, r.QOS = "bob", 995, "normal"
	for _, test := range []struct {
		each map[string]int64
		ever int
		why  string
	}{
		{map[string]int64{"node": 1, "mem": 500}, 3, "the limit of QOS normal for each user is mem=1536"},
		{map[string]int64{"node": 1, "cpu": 512}, 4, "the limit of QOS normal for each user is cpu=2048"},
		{map[string]int64{"node": 1, "gres/gpu:a100": 2}, 2, "the limit of QOS normal for each account is gres/gpu:a100=4"},
	} {
		if ever, _ := p.Ceilings(r, 0, Need{Each: test.each}); ever.nodes != test.ever || ever.why != test.why {
			t.Errorf("%v: %d nodes (%s), want %d (%s)", test.each, ever.nodes, ever.why, test.ever, test.why)
		}
	}
}
