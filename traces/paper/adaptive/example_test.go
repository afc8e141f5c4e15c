package adaptive_test

import (
	"context"
	"fmt"

	"accordion/traces/paper/adaptive"
)

func Example() {
	e := adaptive.Experiment{Seeds: 1, Seed: 1}
	data, err := e.Run(context.Background(), "fig8")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(data.Rows()), "bars in", data.Charts()[0].File)
}
