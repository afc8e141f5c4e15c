package main

import (
	"context"
	"fmt"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/embedded"
	"accordion/core"
	"accordion/slurm"
)

// cluster is the batch system that the configuration names, with what serve and preflight ask of it besides.
type cluster struct {
	system    adapter.BatchSystem
	pool      string
	preflight func(context.Context) []slurm.Finding
	guard     func(context.Context) (core.Time, error)
	name      func(context.Context) (string, error)
	close     func()
}

// connect makes the batch system; it touches nothing yet.
func connect(conf config.Config) (*cluster, error) {
	if conf.System == config.SystemEmbedded {
		return connectEmbedded(conf.Embedded)
	}
	s, err := slurm.New(slurm.Config{Partitions: []string{conf.Slurm.Partition}, Conf: conf.Slurm.Conf, Bin: conf.Slurm.Bin,
		Timeout: conf.Slurm.Timeout})
	if err != nil {
		return nil, err
	}
	return &cluster{system: s, pool: "partition " + conf.Slurm.Partition, preflight: s.Preflight, guard: s.Guard,
		name: s.ClusterName, close: func() {}}, nil
}

func connectEmbedded(conf config.Embedded) (*cluster, error) {
	s, err := embedded.New(embedded.Options{Nodes: conf.Nodes})
	if err != nil {
		return nil, err
	}
	return &cluster{
		system:    s,
		pool:      fmt.Sprintf("%d nodes in this process", conf.Nodes),
		preflight: func(context.Context) []slurm.Finding { return nil },
		guard:     func(context.Context) (core.Time, error) { return 0, nil }, // it enforces limits at the very second
		name:      func(context.Context) (string, error) { return config.SystemEmbedded, nil },
		close:     s.Close,
	}, nil
}
