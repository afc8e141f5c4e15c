package sizing_test

import (
	"fmt"

	"accordion/core/sizing"
)

func Example_file() {
	s := sizing.Statistics{Nodes: [sizing.Classes]float64{8, 9, 20}, Seconds: [sizing.Classes]float64{20, 600, 20000}}
	s.Arrivals[16][sizing.Short] = 3 // in each day, between 8:00 and 8:30
	file, err := sizing.Parse(sizing.Format(sizing.File{Log: "mine", Jobs: 90, Days: 30, Statistics: s}))
	fmt.Println(file.Log, file.Arrivals[16][sizing.Short], file.Statistics.Forecast() != nil, err)
	// Output: mine 3 true <nil>
}
