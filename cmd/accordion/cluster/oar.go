package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/cmd/accordion/command"
	hooked "accordion/cmd/accordion/oar"
	"accordion/core/policy"
	"accordion/oar"
	"accordion/oar/conf"
	"accordion/oar/scheduler"
	"accordion/oar/setup"
)

// connectOAR connects to OAR, and reads from its database whether Accordion is installed there.
func connectOAR(ctx context.Context, settings config.Config, log hclog.Logger) (*Cluster, error) {
	c, err := conf.Read(hooked.File(settings.OAR.Conf))
	if err != nil {
		return nil, err
	}
	passes, err := passesOf(c.Policy, settings.Plan)
	if err != nil {
		return nil, command.Usage(err)
	}
	s, err := oar.Open(ctx, c, oar.Options{Queue: settings.OAR.Queue, Timeout: settings.OAR.Timeout, Bin: settings.OAR.Bin, Log: log.Named("oar")})
	if err != nil {
		return nil, oneLine(err)
	}
	parts := setup.Setup{Conf: c, Queue: settings.OAR.Queue, File: hooked.File(settings.OAR.Conf), OARDir: hooked.Dir()}
	preflight := func(ctx context.Context) []adapter.Finding {
		found := append(parts.Preflight(ctx), checkSession(ctx, settings.Session)...)
		slices.SortStableFunc(found, adapter.ByGravity)
		return found
	}
	return &Cluster{System: s, Pool: fmt.Sprintf("queue %s, planned by %s", settings.OAR.Queue, passes), Preflight: preflight, Guard: s.Guard, Round: s.Round, Name: s.Name, Identity: s.Identity, stopped: s, Leaser: s, Passes: passes,
		Deadline: 2 * settings.OAR.Timeout, // longer than the timeout of package oar, so that package oar reports the timeout first and undoes its own request
		Close:    s.Close}, nil
}

// oneLine returns an error on one line, because PostgreSQL's client writes several. An *adapter.NoAnswerError keeps its
// type.
func oneLine(err error) error {
	text := errors.New(strings.Join(strings.Fields(err.Error()), " "))
	if silent := (*adapter.NoAnswerError)(nil); errors.As(err, &silent) {
		return &adapter.NoAnswerError{Err: text}
	}
	return text
}

// sameBut reports whether `name` is the policy name `sized` without its sizing rule.
func sameBut(name, sized string) bool {
	base, _, _ := strings.Cut(sized, "+")
	return name == base
}

// passesOf returns the policy by which OAR's scheduler plans. The sidecar must size moldable jobs like the scheduler, and must limit
// reservations to few jobs if, and only if, the scheduler does. passesOf returns an error if the sidecar's own configuration contradicts
// that.
func passesOf(p conf.Policy, own config.Plan) (policy.Policy, error) {
	planner, err := scheduler.Planner(p, command.ReadStatistics)
	_, few := policy.Patient(planner)
	switch {
	case err != nil:
		return planner, err
	case own.Policy != config.Default().Plan.Policy && !(few && sameBut(own.Policy, planner.Name)):
		return planner, fmt.Errorf("[plan] policy = %q is not in force: under OAR it follows from %s, which is %q in %s; say there what is meant, and leave policy out",
			own.Policy, conf.PolicySetting, planner.Name, p.File)
	case few && own.Fit() != config.Default().Plan.Fit():
		return planner, fmt.Errorf("[plan] algorithm and expand_limit are not in force: %s = %q in %s expands no step; leave them out", conf.PolicySetting, planner.Name, p.File)
	case own.Sizes != policy.SizesOf(planner) && own.Sizes != config.Default().Plan.Sizes:
		return planner, fmt.Errorf("[plan] sizes = %q is not in force: under OAR they follow from %s, which is %q in %s; say there what is meant, and leave sizes out",
			own.Sizes, conf.PolicySetting, planner.Name, p.File)
	case own.Statistics != "" && own.Statistics != p.Statistics.Value:
		return planner, fmt.Errorf("[plan] statistics = %q is not in force: under OAR they are those of %s in %s; name the file there, and leave statistics out",
			own.Statistics, conf.StatisticsSetting, p.File)
	}
	return planner, nil
}

// LaunchersBeside returns an error if launchers are to be served and OAR's scheduler has a policy that gives reservations to few jobs. In
// other clusters the policy is named in the same file as [delegate], and is checked when that file is read.
func LaunchersBeside(passes policy.Policy) error {
	if why := config.NoLaunchers(passes); why != "" {
		return fmt.Errorf("%s = %q in oar.conf: %s", conf.PolicySetting, passes.Name, why)
	}
	return nil
}
