package limits

import (
	"strings"
	"testing"

	"accordion/slurm/output"
)

// FuzzParse parses any text as slurmctld's associations and QOS. For every text, a ceiling must be a number of
// nodes, and the current ceiling must not be above the permanent one. The file for job_submit.lua must be
// printable.
func FuzzParse(f *testing.F) {
	f.Add(assocMgr("GrpTRES=node=3(2)", "GrpTRES=cpu=9(4)", "MaxTRESPJ=node=4", "MaxTRESPU=node=5(2)"))
	f.Add(assocMgr("GrpTRES=node=9223372036854775807(-9223372036854775808)", "GrpTRES=cpu=-1(4)", "GrpTRES=node=0(1)", "MaxTRESPU=node=N(2)"))
	f.Add("QOS=normal(1) Priority=5 GrpJobs=N(1) Account Limits= a={={}={b}} User Limits= 995={")
	f.Add("ClusterName= ParentAccount=(\nClusterName=x ID=1 Account=a ParentAccount=a(1)\n")
	f.Fuzz(func(t *testing.T, out string) {
		p := Parse(out)
		need := Need{Each: map[string]int64{"node": 1, "cpu": 2}, Extra: map[string]int64{"cpu": 1}}
		if text := p.Lua(need); strings.IndexFunc(text, func(r rune) bool { return (r < ' ' || r > '~') && r != '\n' && r != '\t' }) >= 0 {
			t.Errorf("the file for the plug-in: %q", text)
		}
		records := []output.Record{{Account: "chem"}}
		for _, a := range p.associations {
			records = append(records, output.Record{Account: a.account})
			records[len(records)-1].User = a.user
		}
		for i := range records {
			r := &records[i]
			if len(p.qualities) > 0 {
				r.QOS = p.qualities[i%len(p.qualities)].name
			}
			ever, now := p.Ceilings(r, 2, need)
			if ever.nodes < -1 || now.nodes < -1 || ever.nodes >= 0 && (now.nodes < 0 || now.nodes > ever.nodes) {
				t.Errorf("%+v: ever %+v, now %+v", r, ever, now)
			}
		}
		p.Miscounted(records)
		p.NearLimit(records)
	})
}

// FuzzParseEach parses any text as sacctmgr's list of QOS.
func FuzzParseEach(f *testing.F) {
	f.Add("normal|cpu=4,node=2|\nhigh||gres/gpu=8\n")
	f.Add("|||\n||\n|node=99999999999999999999|x=\n\xff|node=1|node=1\n")
	f.Fuzz(func(t *testing.T, out string) {
		for name, sets := range ParseEach(out) {
			if len(sets) == 0 || !strings.Contains(out, name) {
				t.Errorf("QOS %q of %q has %v", name, out, sets)
			}
			for _, s := range sets {
				s.among(Need{Each: map[string]int64{"node": 1}}, func(_, _ string, b bound) {
					if b.limit < 0 {
						t.Errorf("QOS %q: %+v", name, b)
					}
				})
			}
		}
	})
}
