package observe

import (
	"context"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/oar/database"
)

// Reservation is a reservation of Accordion's, with the job that represents it in OAR's plan (its holder).
type Reservation struct {
	adapter.Reservation
	Holder int64
}

// Reservations reads Accordion's reservation with the given name, or all of its reservations if the name is "".
func (o *Reader) Reservations(ctx context.Context, from database.Querier, name string) ([]Reservation, error) {
	rows, err := o.db.Reservations(ctx, from, name)
	if err != nil {
		return nil, err
	}
	hosts, err := o.db.ReservedHosts(ctx, from, name)
	all := make([]Reservation, len(rows))
	for i, r := range rows {
		hostlist.Sort(hosts[r.Holder])
		all[i] = Reservation{adapter.Reservation{Name: r.Name, User: r.Owner, Start: r.From, End: r.To, Nodes: hosts[r.Holder], OverManaged: r.OverManaged, Idle: r.Idle}, r.Holder}
	}
	return all, err
}
