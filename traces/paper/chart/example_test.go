package chart_test

import (
	"bytes"
	"fmt"

	"accordion/traces/paper/chart"
)

func ExampleWrite() {
	p := chart.New("Figure 4: mean response")
	p.X.Label.Text = "class"
	var out bytes.Buffer
	err := chart.Write(p, &out)
	fmt.Println(bytes.Contains(out.Bytes(), []byte("Figure 4: mean response")), err)
	// Output: true <nil>
}
