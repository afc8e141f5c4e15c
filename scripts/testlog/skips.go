package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A skip is a line of the list of skips. It has a package, a test, and the word for what the test needs.
type skip struct{ pkg, test, word string }

// listHead is the beginning of the file that lists skips.
const listHead = `# Tests that the first level may skip (./scripts/test, go test ./...), and the word of what each needs (internal/testenv).
# Written by ./scripts/test --skips, of all packages or of those that it is given. Read what changed before you commit it.
`

var (
	needed = regexp.MustCompile(`^needs ([^:]+): `)
	asked  = regexp.MustCompile(`-accordion\.[a-z]+`)
)

// word returns the word for what a skipped test needs. This is the word of internal/testenv, the flag that requests
// the test, or the whole message.
func word(why string) string {
	if m := needed.FindStringSubmatch(why); m != nil {
		return m[1]
	}
	return cmp.Or(asked.FindString(why), why)
}

// byLevel lists the words for needs that are never met at the first level, on any machine.
var byLevel = []string{"slurm", "oar", "packages", "chromium", "prometheus", "minutes"}

// always reports whether the first level skips a test with this word on every machine.
func always(word string) bool { return slices.Contains(byLevel, word) || asked.MatchString(word) }

// skipped returns the skips of the tests.
func skipped(all []record) (skips []skip) {
	for _, r := range all {
		if r.Result == "skip" {
			skips = append(skips, skip{short(r.Package), r.Test, word(r.Why)})
		}
	}
	slices.SortFunc(skips, func(a, b skip) int { return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.test, b.test)) })
	return slices.Compact(skips)
}

func short(pkg string) string { return strings.TrimPrefix(pkg, "accordion/") }

// readSkips reads a list of skips. A missing file counts as an empty list.
func readSkips(file string) (skips []skip, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("read %s: want a package, a test and a word, not %q", file, line)
		}
		skips = append(skips, skip{fields[0], fields[1], fields[2]})
	}
	return skips, nil
}

// writtenTo returns a summary that rewrites the list. It keeps the lines of packages that were not tested.
func writtenTo(file string) summary {
	return func(out io.Writer, all []record) error {
		skips, err := readSkips(file)
		if err != nil {
			return err
		}
		tested := packagesOf(all)
		skips = slices.DeleteFunc(skips, func(s skip) bool { return tested[s.pkg] })
		skips = append(skips, skipped(all)...)
		slices.SortFunc(skips, func(a, b skip) int { return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.test, b.test)) })
		var text strings.Builder
		text.WriteString(listHead)
		for _, s := range skips {
			fmt.Fprintf(&text, "%s %s %s\n", s.pkg, s.test, s.word)
		}
		return os.WriteFile(file, []byte(text.String()), 0o644)
	}
}

func packagesOf(all []record) map[string]bool {
	tested := map[string]bool{}
	for _, r := range all {
		tested[short(r.Package)] = true
	}
	return tested
}

// comparedWith returns a summary that compares the skips of a run with the list. A machine that has more than a
// bare machine skips fewer tests. Only tests whose need is never met at the first level must be skipped on every
// machine.
func comparedWith(file string) summary {
	return func(out io.Writer, all []record) error {
		listed, err := readSkips(file)
		if err != nil {
			return err
		}
		wrong := append(unlisted(skipped(all), listed), unskipped(all, listed)...)
		for _, line := range wrong {
			fmt.Fprintln(out, line)
		}
		if len(wrong) > 0 {
			return fmt.Errorf("compare with %s: %d lines differ; if that is right: ./scripts/test --skips PACKAGE…, and read what changed", file, len(wrong))
		}
		return nil
	}
}

// unlisted returns a line for each skip if neither its test nor a parent of its test is in the list.
func unlisted(skips, listed []skip) (wrong []string) {
	known := map[string]bool{}
	for _, s := range listed {
		known[s.pkg+" "+s.test] = true
	}
	for _, s := range skips {
		found := false
		for test := s.test; test != "" && !found; {
			found = known[s.pkg+" "+test]
			test = test[:max(0, strings.LastIndexByte(test, '/'))]
		}
		if !found {
			wrong = append(wrong, fmt.Sprintf("begins to be skipped: %s %s: %s", s.pkg, s.test, s.word))
		}
	}
	return wrong
}

// unskipped returns a line for each listed test that no longer exists. It also returns a line for each listed test
// that ran although its need is never met at the first level.
func unskipped(all []record, listed []skip) (wrong []string) {
	results, tops, tested := map[string]string{}, map[string]bool{}, packagesOf(all)
	for _, r := range all {
		results[short(r.Package)+" "+r.Test] = r.Result
		top, _, _ := strings.Cut(r.Test, "/")
		tops[short(r.Package)+" "+top] = true
	}
	for _, s := range listed {
		top, _, _ := strings.Cut(s.test, "/")
		switch result := results[s.pkg+" "+s.test]; {
		case tested[s.pkg] && !tops[s.pkg+" "+top]:
			wrong = append(wrong, fmt.Sprintf("is gone: %s %s", s.pkg, s.test))
		case result != "" && result != "skip" && always(s.word):
			wrong = append(wrong, fmt.Sprintf("is not skipped any more: %s %s, for want of %s", s.pkg, s.test, s.word))
		}
	}
	return wrong
}

// printLeft prints in one line how many tests were skipped because a need was missing, and the commands that run
// them.
func printLeft(out io.Writer, all []record) error {
	count, real, more := map[string]int{}, 0, 0
	for _, s := range skipped(all) {
		if s.word == "published" || asked.MatchString(s.word) {
			more++
			continue
		}
		count[s.word]++
		real++
	}
	words := slices.Collect(maps.Keys(count))
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for i, w := range words {
		words[i] = fmt.Sprintf("%s %d", w, count[w])
	}
	_, err := fmt.Fprintf(out, "left out: the race detector, lint, 9,000 seeds, and %d tests for want of %s: ./scripts/test --real; %d that are run on request: --long, -accordion.seed=N\n",
		real, cmp.Or(strings.Join(words, ", "), "nothing"), more)
	return err
}
