package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// read reads records. A missing file counts as empty.
func read(files []string) ([]record, error) {
	var all []record
	for _, name := range files {
		file, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for d := json.NewDecoder(file); ; {
			var r record
			if err = d.Decode(&r); err != nil {
				break
			}
			all = append(all, r)
		}
		if err := errors.Join(err, file.Close()); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// slowestOf returns a summary that prints the slowest tests. A test with parallel subtests counts with the time of
// its longest subtest, because the test's own time does not include its subtests.
func slowestOf(count int) summary {
	return func(out io.Writer, all []record) error { return printSlowest(out, all, count) }
}

func printSlowest(out io.Writer, all []record, count int) error {
	longest := map[string]float64{}
	for _, r := range all {
		if test, _, sub := strings.Cut(r.Test, "/"); sub {
			key := r.Package + " " + test
			longest[key] = max(longest[key], r.Seconds)
		}
	}
	all = slices.DeleteFunc(all, func(r record) bool { return strings.Contains(r.Test, "/") })
	for i, r := range all {
		all[i].Seconds = max(r.Seconds, longest[r.Package+" "+r.Test])
	}
	all = slices.DeleteFunc(all, func(r record) bool { return r.Seconds < 0.1 })
	slices.SortStableFunc(all, func(a, b record) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for _, r := range all[:min(count, len(all))] {
		if _, err := fmt.Fprintf(out, "%8.1f s  %s %s\n", r.Seconds, strings.TrimPrefix(r.Package, "accordion/"), r.Test); err != nil {
			return err
		}
	}
	return nil
}

// printSkipped prints a line for each reason. The most frequent reason comes first.
func printSkipped(out io.Writer, all []record) error {
	tests := map[string][]string{}
	for _, r := range all {
		if r.Result == "skip" {
			tests[r.Why] = append(tests[r.Why], strings.TrimPrefix(r.Package, "accordion/")+" "+r.Test)
		}
	}
	reasons := make([]string, 0, len(tests))
	for why := range tests {
		reasons = append(reasons, why)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(tests[b]), len(tests[a])), cmp.Compare(a, b))
	})
	for _, why := range reasons {
		names := tests[why]
		more := ""
		if len(names) > 3 {
			names, more = names[:3], fmt.Sprintf(", and %d more", len(names)-3)
		}
		if _, err := fmt.Fprintf(out, "NOT run: %s%s: %s\n", strings.Join(names, ", "), more, why); err != nil {
			return err
		}
	}
	return nil
}

// printFailed prints each failed test that has output, with the first lines of that output.
func printFailed(out io.Writer, all []record) error {
	for _, r := range all {
		if len(r.Said) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(out, "FAILED: %s %s\n%s", strings.TrimPrefix(r.Package, "accordion/"), r.Test, strings.Join(r.Said, "")); err != nil {
			return err
		}
	}
	return nil
}
