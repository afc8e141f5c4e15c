package moldable_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// Six of eight nodes are in use for an hour. Two nodes now complete earlier than eight nodes later.
func ExampleChooser() {
	view := profile.New(8)
	view.Add(0, core.EP{{Duration: 3600, Nodes: 6}})
	choices, err := moldable.Parse("2x90m|8x40m")
	if err != nil {
		panic(err)
	}
	var chooser moldable.Chooser
	place, ok := chooser.Best(view, 0, core.Job{ID: 1, Choices: choices})
	fmt.Println(ok, place.Choice, place.Start, place.EP)
	// Output: true 0 0 2x5400s
}
