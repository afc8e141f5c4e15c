package scheduler

import (
	"cmp"
	"fmt"
	"path/filepath"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sizing"
	"accordion/oar/conf"
)

// Planner returns the policy by which a pass plans. `read` reads a file with statistics of arrivals; times in the file count from midnight
// UTC, as OAR's clock does. The error is a *conf.Error, which a caller that plans nothing may ignore.
func Planner(p conf.Policy, read func(path string) (sizing.File, error)) (policy.Policy, error) {
	wrong := func(name string, at conf.Setting, err error) (policy.Policy, error) {
		return policy.Policy{}, &conf.Error{File: p.File, Line: at.Line, Why: name + ": " + err.Error()}
	}
	planner, err := policy.Pass(cmp.Or(p.Name.Value, policy.DefaultPass))
	if err != nil {
		return wrong(conf.PolicySetting, p.Name, err)
	}
	path := p.Statistics.Value
	switch {
	case path == "":
		return planner, nil
	case !policy.Predicts(planner):
		err = fmt.Errorf("the policy %s predicts nothing; leave the line out, or take one that does, such as scojo-p or repeated+load", planner)
	case !filepath.IsAbs(path):
		err = fmt.Errorf("%s is not an absolute path", core.Shown(path))
	default:
		var known sizing.File
		if known, err = read(path); err == nil {
			return planner.Knowing(&known.Statistics), nil
		}
	}
	return wrong(conf.StatisticsSetting, p.Statistics, err)
}
