package slurm

import (
	"context"
	"path/filepath"
	"time"

	"accordion/slurm/client"
	"accordion/slurm/limits"
	"accordion/slurm/output"
)

// operatorsValid is how long a list of operators is used. To get the list, Slurm prints a line for each user of the
// cluster.
const operatorsValid = 30 * time.Second

// writeOperators writes the list of users, other than root, who may change managed jobs. job_submit.lua reads this
// file. While the list cannot be read, the plug-in trusts the last file for a quarter of an hour.
func (s *System) writeOperators(ctx context.Context, c output.Configuration) {
	if s.config.Limits == "" {
		return
	}
	s.mu.Lock()
	read, took := s.operatorsAt, s.operatorsTook
	s.mu.Unlock()
	if time.Since(read) < max(operatorsValid, 20*took) {
		return
	}
	begin := time.Now()
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "assoc_mgr", "flags=users"}, Kind: client.Listing})
	s.mu.Lock()
	s.operatorsAt, s.operatorsTook = begin, time.Since(begin)
	s.mu.Unlock()
	if err != nil {
		return
	}
	s.write(filepath.Join(filepath.Dir(s.config.Limits), limits.OperatorsFile), limits.OperatorsLua(limits.Operators(out.Stdout, c)))
}
