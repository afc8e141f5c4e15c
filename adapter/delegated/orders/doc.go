// Package orders carries out, on one cluster, the orders of the loop of applications (adapter/delegated/mailbox). A Keeper reads the
// orders in the mailbox, makes the calls of the batch system, and writes the cluster's state into the mailbox. The pure function Next
// returns the next call for an order, given the newest reading and what the Keeper remembers.
//
//	parts := keeper.Look(now, reading) // for the plan
//	world := plan.Make(…)
//	err := keeper.Carry(ctx, world)
//	keeper.Show(world)
package orders
