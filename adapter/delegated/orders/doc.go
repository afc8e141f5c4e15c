// Package orders carries out what the loop of applications wants of their parts on one cluster (adapter/delegated/mailbox). Next decides, purely: an
// order, what is seen of it and what is remembered make the next act and the standing. A Keeper, which the sidecar's loop owns, sees,
// acts and shows the state.
//
//	parts := keeper.Look(now, reading) // for the plan
//	world := plan.Make(…)
//	err := keeper.Carry(ctx, world)
//	keeper.Show(world)
package orders
