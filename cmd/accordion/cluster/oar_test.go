package cluster

import (
	"strings"
	"testing"

	"accordion/adapter/config"
	"accordion/core/ep"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/oar/conf"
)

// Under OAR the sidecar uses the scheduler's policy if that policy gives reservations to few jobs only. The sidecar's own configuration
// must not name another policy.
func TestUnderOARThePolicyIsThatOfThePasses(t *testing.T) {
	const day = 24 * 3600
	for _, c := range []struct {
		passes, own, algorithm string
		want                   sched.Policy // the sidecar's policy
		wrong                  string
	}{
		{"", "", "", sched.Repeated{Limit: ep.NoExpansion}, ""},
		{"patient", "", "", sched.Patient{Factor: 2, Most: day}, ""},
		{"patient:12h", "patient:12h", "", sched.Patient{Factor: 2, Most: day / 2}, ""},
		{"easy-evolving+earliest", "easy-evolving", "", sched.Patient{}, ""},
		{"patient", "easy-evolving", "", nil, `[plan] policy = "easy-evolving" is not in force: under OAR it follows from ACCORDION_POLICY, which is "patient"`},
		{"repeated", "patient", "", nil, `[plan] policy = "patient" is not in force: under OAR it follows from ACCORDION_POLICY, which is "repeated"`},
		{"patient", "", "2X", nil, `ACCORDION_POLICY = "patient" in oar.conf expands no step; leave them out`},
	} {
		own := config.Default().Plan
		if c.own != "" {
			own.Policy = c.own
		}
		if c.algorithm != "" {
			own.Algorithm = c.algorithm
		}
		passes, err := passesOf(conf.Policy{File: "oar.conf", Name: conf.Setting{Value: c.passes}}, own)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%+v: %v, want %s", c, err, c.wrong)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&Cluster{Passes: passes}).Planner(own)
		if err != nil || policy.Unsized(got) != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// Launchers need views in which all waiting jobs have a planned place. If OAR's scheduler gives reservations to few jobs only, launchers
// are not served, and the error names the file to change.
func TestUnderOARNoLaunchersAreServedWhereHardlyAnybodyHasAPlace(t *testing.T) {
	for name, refused := range map[string]bool{"": false, "repeated": false, "easy+share": false, "easy-evolving": true, "patient:12h": true, "patient+earliest": true} {
		passes, err := passesOf(conf.Policy{File: "oar.conf", Name: conf.Setting{Value: name}}, config.Default().Plan)
		if err != nil {
			t.Fatal(err)
		}
		err = LaunchersBeside(passes)
		want := `ACCORDION_POLICY = "` + name + `" in oar.conf: [delegate] does not go together with a policy under which most jobs have no place`
		if refused != (err != nil) || refused && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := LaunchersBeside(policy.Policy{}); err != nil {
		t.Errorf("without passes: %v", err)
	}
}
