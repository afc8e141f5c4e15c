package slurm_test

import (
	"maps"
	"testing"
)

func TestWithManageAllJobsWaitAtAClosedGate(t *testing.T) {
	const all, told = `return { partitions = { "main" }, manage = "all" }`, `return { partitions = { "main" } }`
	const lives = `["accordion-lease"] = { end_time = 9999999999 }, ["accordion-gate"] = {}`
	job := func(change fields) fields {
		j := fields{"min_nodes": int64(2), "script": "#!/bin/sh\n"}
		maps.Copy(j, change)
		return j
	}
	for _, test := range []struct {
		name, site, reservations string
		job                      fields
		waits, whole             bool
	}{
		{"the gate is shut", all, lives, job(nil), true, true},
		{"CPUs for each GPU", all, lives, job(fields{"cpus_per_tres": "gres:gpu:1"}), true, false},
		{"more tasks than CPUs", all, lives, job(fields{"num_tasks": int64(10), "min_cpus": int64(1)}), true, false},
		{"as many CPUs as tasks", all, lives, job(fields{"num_tasks": int64(10), "min_cpus": int64(10)}), true, true},
		{"an interactive one", all, lives, fields{"min_nodes": int64(1)}, true, true},
		{"the gate is open", all, lives + `, ["accordion-open"] = {}`, job(nil), false, true},
		{"the sidecar is dead", all, `["accordion-lease"] = { end_time = 1000 }, ["accordion-gate"] = {}`, job(nil), false, true},
		{"there was never one", all, "", job(nil), false, true},
		{"nothing to wait in", all, `["accordion-lease"] = { end_time = 9999999999 }`, job(nil), false, true},
		{"the partition is Slurm's", told, lives, job(nil), false, false},
		{"another partition", all, lives, job(fields{"partition": "shared"}), false, false},
		{"named twice", all, lives, job(fields{"partition": ",main,,main"}), true, true},
		{"several partitions", all, lives, job(fields{"partition": "main,shared"}), false, false},
		{"root's", all, lives, job(fields{"uid": int64(0)}), false, false},
		{"held by its owner", all, lives, job(fields{"priority": int64(0)}), false, true},
		{"an array", all, lives, job(fields{"array_inx": "1-4"}), false, true},
		{"a heterogeneous job", all, lives, job(fields{"het_job_offset": int64(0)}), false, true},
		{"nodes by name", all, lives, job(fields{"req_nodes": "n1"}), false, true},
		{"a reservation of the site's", all, lives, job(fields{"reservation": "maintenance"}), false, true},
		{"now or never", all, lives, job(fields{"immediate": int64(1)}), false, true},
	} {
		got := submitWithFiles(t, map[string]string{"accordion.lua": test.site, "reservations.lua": "return { " + test.reservations + " }"}, "16", []fields{test.job})[0]
		if got["rc"] != int64(0) || (got["reservation"] == "accordion-gate") != test.waits || (got["shared"] == int64(0)) != test.whole || got["admin_comment"] != nil {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	got := submitWithFiles(t, map[string]string{"accordion.lua": all, "reservations.lua": "return { " + lives + " }"}, "16", []fields{job(fields{"comment": "ep=2x20s,4x20s"})})[0]
	if got["reservation"] != nil || got["admin_comment"] != "accordion:ep=2x20s,4x20s" || got["priority"] != int64(0) {
		t.Errorf("an evolving job: %v", got)
	}
	for name, test := range map[string]struct {
		job  fields
		want int64
	}{
		"its owner takes it from the gate": {fields{"modify": int64(1), "uid": int64(1000), "resv_name": "accordion-gate", "into": ""}, denied},
		"its owner changes its limit":      {fields{"modify": int64(1), "uid": int64(1000), "resv_name": "accordion-gate"}, 0},
		"root takes it from the gate":      {fields{"modify": int64(1), "uid": int64(0), "resv_name": "accordion-gate", "into": ""}, 0},
		"its owner leaves another one":     {fields{"modify": int64(1), "uid": int64(1000), "resv_name": "maintenance", "into": ""}, 0},
	} {
		if got := submitAt(t, all, 16, []fields{test.job})[0]; got["rc"] != test.want {
			t.Errorf("%s: rc = %v", name, got["rc"])
		}
	}
}
