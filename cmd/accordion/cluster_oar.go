package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/oar"
)

// connectOAR makes the batch system of an OAR, and reads from its database whether Accordion is installed there.
func connectOAR(ctx context.Context, conf config.Config, log hclog.Logger) (*cluster, error) {
	c, err := oar.ReadConf(oarConf(conf.OAR.Conf))
	if err != nil {
		return nil, err
	}
	s, err := oar.Open(ctx, c, oar.Options{Queue: conf.OAR.Queue, Timeout: conf.OAR.Timeout, Bin: conf.OAR.Bin, Log: log.Named("oar")})
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " ")) // PostgreSQL's client says it in several lines
	}
	setup := oar.Setup{Conf: c, Queue: conf.OAR.Queue, File: oarConf(conf.OAR.Conf), OARDir: oarDir()}
	preflight := func(ctx context.Context) []adapter.Finding {
		found := append(setup.Preflight(ctx), checkSession(ctx, conf.Session)...)
		slices.SortStableFunc(found, adapter.ByGravity)
		return found
	}
	return &cluster{system: s, pool: "queue " + conf.OAR.Queue, preflight: preflight, guard: s.Guard, name: s.Name, identity: s.Identity,
		deadline: 2 * conf.OAR.Timeout, // it is the system's to say first that OAR did not do what it was asked for, and to take it back
		close:    s.Close}, nil
}
