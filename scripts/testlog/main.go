// Testlog reads the output of `go test -json` and prints what `go test` would print. It appends to a file how long each
// test took and why it was skipped or failed. It also sums up such files. scripts/test calls it.
//
//	go test -json ./... | testlog FILE     prints results, keeps tests in FILE
//	testlog -slowest 10 FILE               prints the slowest tests
//	testlog -skipped FILE...               prints a line for each reason why tests were skipped; nothing if none was
//	testlog -failed FILE...                prints the failed tests, and the first lines of each one's output
//	testlog -skips LIST FILE...            fails if a skipped test is not in the list, or a test in the list is no longer skipped
//	testlog -write -skips LIST FILE...     writes the list again, for the packages that were tested
//	testlog -left FILE...                  prints in one line how many tests were skipped, and the commands that run them
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	slowest := flag.Int("slowest", 0, "print the `N` slowest tests of the files")
	skipped := flag.Bool("skipped", false, "print what was not run, and why, of the files")
	failed := flag.Bool("failed", false, "print what failed, and what it said first, of the files")
	skips := flag.String("skips", "", "compare what was skipped with the `LIST`")
	write := flag.Bool("write", false, "write the list of -skips anew")
	left := flag.Bool("left", false, "print in one line what was skipped, by what it needs")
	flag.Parse()
	var sum summary
	switch {
	case *slowest > 0:
		sum = slowestOf(*slowest)
	case *skipped:
		sum = printSkipped
	case *failed:
		sum = printFailed
	case *skips != "" && *write:
		sum = writtenTo(*skips)
	case *skips != "":
		sum = comparedWith(*skips)
	case *left:
		sum = printLeft
	}
	if err := run(os.Stdin, os.Stdout, sum, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}

// summary prints a summary of the recorded tests.
type summary func(out io.Writer, all []record) error

// run sums up files. If `sum` is nil, it reads test results from `in` instead and records them in a file.
func run(in io.Reader, out io.Writer, sum summary, files []string) error {
	if len(files) == 0 || len(files) > 1 && sum == nil {
		return fmt.Errorf("want one file, or several to sum up")
	}
	if sum == nil {
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
	return sum(out, kept)
}
