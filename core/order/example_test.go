package order_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/order"
	"accordion/core/profile"
)

func ExampleSearch_Run() {
	var eps []core.EP
	for _, text := range []string{"3x30s,4x40s", "7x30s,6x20s", "7x30s,6x30s", "6x30s,1x20s", "4x20s,8x40s"} {
		requested, err := ep.Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		eps = append(eps, requested)
	}
	search := order.Search{Algorithm: ep.Algorithm{Limit: ep.NoExpansion}, Seed: 1, Evals: 500}
	found, err := search.Run(profile.New(10), eps)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Makespan, "s; no schedule takes less than", found.Bound, "s")
	// Output: 180 s; no schedule takes less than 180 s
}
