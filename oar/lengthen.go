package oar

import (
	"context"
	"database/sql"
	"fmt"

	"accordion/adapter"
	"accordion/oar/database"
)

// lengthen gives the companions of jobs that were made longer (oarwalltime) a walltime with which they outlive them again.
func (s *System) lengthen(ctx context.Context, shown []*record) error {
	var longer []string
	for _, r := range shown {
		for _, c := range r.joined {
			if r.State == adapter.Running && c.State == adapter.Running && c.moldable != 0 && c.ends() < r.ends() {
				longer = append(longer, fmt.Sprintf("UPDATE moldable_job_descriptions SET moldable_walltime = %d WHERE moldable_id = %d",
					r.ends()+outlives-c.Started, c.moldable))
			}
		}
	}
	if len(longer) == 0 {
		return nil
	}
	return s.db.Change(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, "making companions longer", longer...) })
}
