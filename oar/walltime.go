package oar

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/server"
)

var _ adapter.Lengthener = (*System)(nil)

// Lengthen asks OAR for a longer walltime (oarwalltime), with an administrator's rights. OAR's next pass grants the extension, or a part of
// it, if no other job is planned on the nodes. If oar.conf forbids changes of walltimes, OAR refuses.
func (s *System) Lengthen(ctx context.Context, job adapter.Key, limit core.Time) error {
	walltime := fmt.Sprintf("%d:%d:%d", limit/3600, limit/60%60, limit%60)
	out, err := server.Program(ctx, s.program("oarwalltime"), strconv.FormatInt(int64(job.ID), 10), walltime).CombinedOutput()
	if err != nil {
		return fmt.Errorf("lengthening job %d: oarwalltime %s: %w: %s", job.ID, walltime, err, strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}
