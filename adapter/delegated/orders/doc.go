// Package orders carries out, on one cluster, what the loop of applications orders (adapter/delegated/mailbox). A Keeper is the sidecar's
// end of the mailbox. Next is a pure function. It returns the next call of the batch system for an order, given the newest reading and what
// the Keeper remembers.
//
//	parts := keeper.Look(now, reading) // for the plan
//	world := plan.Make(…)
//	err := keeper.Carry(ctx, world)
//	keeper.Show(world)
package orders
