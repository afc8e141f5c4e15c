package arrivals_test

import (
	"fmt"

	"accordion/core/adapt"
	"accordion/core/arrivals"
)

func Example() {
	s := adapt.Statistics{Nodes: [adapt.Classes]float64{8, 9, 20}, Seconds: [adapt.Classes]float64{20, 600, 20000}}
	s.Arrivals[16][adapt.Short] = 3 // a day, between 8:00 and 8:30
	file, err := arrivals.Parse(arrivals.Format(arrivals.File{Log: "mine", Jobs: 90, Days: 30, Statistics: s}))
	fmt.Println(file.Log, file.Arrivals[16][adapt.Short], file.Statistics.Forecast() != nil, err)
	// Output: mine 3 true <nil>
}
