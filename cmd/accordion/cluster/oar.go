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
	"accordion/oar/pass"
	"accordion/oar/setup"
)

// connectOAR makes the batch system of an OAR, and reads from its database whether Accordion is installed there.
func connectOAR(ctx context.Context, settings config.Config, log hclog.Logger) (*cluster, error) {
	c, err := conf.Read(hooked.File(settings.OAR.Conf))
	if err != nil {
		return nil, err
	}
	sizes, err := sizesOf(c.Policy, settings.Plan)
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
	return &cluster{system: s, pool: "queue " + settings.OAR.Queue, preflight: preflight, guard: s.Guard, name: s.Name, identity: s.Identity, leaser: s, sizes: sizes,
		deadline: 2 * settings.OAR.Timeout, // it is the system's to say first that OAR did not do what it was asked for, and to take it back
		close:    s.Close}, nil
}

// oneLine is an error whose text PostgreSQL's client makes several lines of; it stays an *adapter.NoAnswer.
func oneLine(err error) error {
	text := errors.New(strings.Join(strings.Fields(err.Error()), " "))
	if silent := (*adapter.NoAnswer)(nil); errors.As(err, &silent) {
		return &adapter.NoAnswer{Err: text}
	}
	return text
}

// sizesOf is the rule by which OAR's passes size moldable jobs, and so the sidecar, too. Another one in its own configuration would not be
// in force.
func sizesOf(p conf.Policy, own config.Plan) (string, error) {
	planner, err := pass.Planner(p)
	if err != nil {
		return "", err
	}
	sizes := policy.SizesOf(planner)
	if own.Sizes != sizes && own.Sizes != config.Default().Plan.Sizes {
		return "", fmt.Errorf("[plan] sizes = %q is not in force: under OAR they follow from ACCORDION_POLICY, which is %q in %s; say there what is meant, and leave sizes out",
			own.Sizes, planner.Name, p.File)
	}
	return sizes, nil
}
