// Testlog reads what `go test -json` prints. It prints what `go test` would say, appends to a file how long each test took and why it was
// skipped, and sums such a file up. scripts/test calls it.
//
//	go test -json ./... | testlog FILE     prints results, keeps tests in FILE
//	testlog -slowest 10 FILE               prints the slowest tests
//	testlog -skipped FILE...               prints what was not run, a line for each reason; nothing, if all was
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	slowest := flag.Int("slowest", 0, "print the `N` slowest tests of the file")
	skipped := flag.Bool("skipped", false, "print what was not run, and why, of the files")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *slowest, *skipped, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, slowest int, skipped bool, files []string) error {
	if len(files) == 0 || len(files) > 1 && !skipped {
		return fmt.Errorf("want one file, or several with -skipped")
	}
	if slowest == 0 && !skipped {
		file, err := os.OpenFile(files[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer file.Close()
		return follow(in, out, file)
	}
	kept, err := read(files)
	if err != nil {
		return err
	}
	if skipped {
		return printSkipped(out, kept)
	}
	return printSlowest(out, kept, slowest)
}
