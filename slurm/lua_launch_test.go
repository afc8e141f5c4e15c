package slurm_test

import (
	"accordion/adapter"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAPartOfAnApplicationIsMarkedAndHeldAndKeepsItsSize(t *testing.T) {
	for _, test := range []struct {
		name      string
		job, want fields
	}{
		{"alone", fields{"comment": "launch=7"}, fields{"comment": "launch=7", "admin_comment": "accordion:launch=7", "priority": int64(0), "requeue": int64(0),
			"min_nodes": unsaidNumber, "max_nodes": unsaidNumber, "time_limit": unsaidNumber}},
		{"with the user's own", fields{"comment": " launch=123456789012345678  run 7 of x=3"}, fields{"comment": "launch=123456789012345678 run 7 of x=3", "admin_comment": "accordion:launch=123456789012345678"}},
		{"with a size and a limit, which its launcher sets anew", fields{"comment": "launch=7", "min_nodes": int64(4), "max_nodes": int64(4), "num_tasks": int64(8), "time_limit": int64(60), "requeue": int64(1)},
			fields{"rc": int64(0), "min_nodes": int64(4), "num_tasks": int64(8), "time_limit": int64(60), "requeue": int64(0)}},
		{"with a script", fields{"comment": "launch=7", "script": "#!/bin/sh\n#SBATCH -N2\nsrun hostname\n"}, fields{"admin_comment": "accordion:launch=7"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := submit(t, 16, []fields{test.job})[0]
			for name, want := range test.want {
				if got[name] != want {
					t.Errorf("%s = %v, want %v (%v)", name, got[name], want, got["user"])
				}
			}
		})
	}
	if got := submitAt(t, `return { partitions = { "main" }, address = "ctl:6820" }`, 16, []fields{{"comment": "launch=7"}})[0]; got["env.ACCORDION_ADDRESS"] != "ctl:6820" {
		t.Errorf("its script has the sidecar's address as %v", got["env.ACCORDION_ADDRESS"])
	}
}

func TestWhatIsNoPartOfAnApplicationIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		job  fields
		says string
	}{
		"no number":           {fields{"comment": "launch="}, "launch= is not the number of an application"},
		"zero":                {fields{"comment": "launch=0"}, "launch=0 is not the number"},
		"a leading zero":      {fields{"comment": "launch=07"}, "launch=07 is not the number"},
		"a word":              {fields{"comment": "launch=x"}, "launch=x is not the number"},
		"negative":            {fields{"comment": "launch=-7"}, "launch=-7 is not the number"},
		"a fraction":          {fields{"comment": "launch=7.5"}, "launch=7.5 is not the number"},
		"too large":           {fields{"comment": "launch=1234567890123456789"}, "is not the number"},
		"a control character": {fields{"comment": "launch=\x1b[2J"}, `launch=\x1b[2J is not the number`},
		"with a profile":      {fields{"comment": "launch=7 ep=2x20s"}, `launch=7 together with "ep=2x20s"`},
		"after a profile":     {fields{"comment": "ep=2x20s mine launch=7"}, `ep= together with "launch=7"`},
		"twice":               {fields{"comment": "launch=7 and launch=8"}, `launch=7 together with "launch=8"`},
		"with a script's":     {fields{"comment": "launch=7", "script": "#!/bin/sh\n#EP 2x20s\n"}, "launch=7 together with the script's #EP line"},
		"with an option":      {fields{"comment": "launch=7", "spank": "_SLURM_SPANK_OPTION_accordion_mold=2x20s"}, "launch=7 together with --mold"},
		"an array":            {fields{"comment": "launch=7", "array_inx": "1-3"}, "an array cannot be a part"},
		"heterogeneous":       {fields{"comment": "launch=7", "het_job_offset": int64(0)}, "a heterogeneous job cannot be a part"},
		"chosen nodes":        {fields{"comment": "launch=7", "req_nodes": "n1"}, "--nodelist"},
		"a reservation":       {fields{"comment": "launch=7", "reservation": "mine"}, "--reservation"},
		"GPUs in all":         {fields{"comment": "launch=7", "tres_per_job": "gres:gpu:8"}, "--gpus-per-node"},
		"a least length":      {fields{"comment": "launch=7", "time_min": int64(1)}, "--time-min"},
		"another partition":   {fields{"comment": "launch=7", "partition": "shared"}, `partition "shared"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := submit(t, 16, []fields{test.job})[0]
			said, _ := got["user"].(string)
			if got["rc"] != refused || !strings.Contains(said, test.says) || strings.IndexFunc(said, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
				t.Errorf("refused with %v: %q; want a line with %q", got["rc"], said, test.says)
			}
		})
	}
}

// The plug-in and Go parse the id of an application in the same way.
func TestThePluginReadsApplicationsAsTheSidecarDoes(t *testing.T) {
	var jobs []fields
	var requests []string
	random := rand.New(rand.NewPCG(7, 11))
	for range 2000 {
		text := []byte("launch=")
		for range random.IntN(21) {
			text = append(text, "0123456789012345678901234567890123456789x-+. "[random.IntN(45)])
		}
		request, _, _ := strings.Cut(string(text), " ")
		requests, jobs = append(requests, request), append(jobs, fields{"comment": string(text)})
	}
	taken := 0
	for i, got := range submit(t, 16, jobs) {
		n, err := adapter.ParseLaunch(requests[i])
		if (err == nil) != (got["rc"] == int64(0)) || err == nil && got["admin_comment"] != fmt.Sprintf("accordion:launch=%d", n) {
			t.Errorf("%q: the sidecar reads %d, %v; the plug-in says %v, %v", requests[i], n, err, got["admin_comment"], got["user"])
		}
		if err == nil {
			taken++
		}
	}
	if taken < 200 || taken > 1800 {
		t.Errorf("%d of 2000 were accepted: the comparison shows little", taken)
	}
}
