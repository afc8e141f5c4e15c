package profile_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/profile"
)

func Example() {
	p := profile.New(100)
	p.Add(0, core.EP{{Duration: 1200, Nodes: 10}, {Duration: 3600, Nodes: 95}})
	fmt.Println(p.FirstFit(10, 600, 0))
	fmt.Println(p.FirstFit(10, 1300, 0))
	fmt.Println(p.Max(0, 4800), p.Steps(0))
	// Output:
	// 0 true
	// 4800 true
	// 95 10x1200s,95x3600s
}
