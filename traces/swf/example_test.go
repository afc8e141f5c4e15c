package swf_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"accordion/traces/swf"
)

func ExampleReader() {
	text := `; Computer: IBM SP2
; MaxProcs: 338 (batch partition; 512 total)
; EP: 2 17x5m,8x30m
1        0 588530    937  306 142.00    -1   -1  35100    -1  1  97  -1 307  3 -1 -1 -1
2   164472 356587   2100   17   2.00    -1   17   2100    -1  1  81  -1 195  3 -1 -1 -1
`
	in := swf.NewReader(strings.NewReader(text), "CTC.swf", swf.Options{Strict: true})
	var job swf.Record
	for {
		err := in.Next(&job)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: %d processors, %d s, profile %q\n", job.Number, job.Size(), job.Run, in.EPs[job.Number].String())
	}
	fmt.Println(in.Header.Machine())
	// Output:
	// 1: 306 processors, 937 s, profile ""
	// 2: 17 processors, 2100 s, profile "17x300s,8x1800s"
	// 338 true
}
