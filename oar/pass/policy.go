package pass

import (
	"cmp"

	"accordion/core/policy"
	"accordion/oar/conf"
)

// Planner is the policy by which a pass plans. The error is a *conf.Error: whoever plans nothing need not care.
func Planner(p conf.Policy) (policy.Policy, error) {
	planner, err := policy.Pass(cmp.Or(p.Name, policy.DefaultPass))
	if err != nil {
		return planner, &conf.Error{File: p.File, Line: p.Line, Why: conf.PolicySetting + ": " + err.Error()}
	}
	return planner, nil
}
