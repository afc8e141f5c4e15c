package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// record is one test that has ended, as it is kept.
type record struct {
	Package, Test, Result string
	Seconds               float64
	Why                   string   `json:",omitempty"` // it was skipped
	Said                  []string `json:",omitempty"` // by one that failed: its first lines
}

// follow prints what is said of packages and of tests that fail, as it comes, and keeps a record of each test. A test that has not ended
// when its package does has failed with it: what it said is printed, too.
func follow(in io.Reader, out, kept io.Writer) error {
	said := map[string][]string{} // by tests that have not ended
	keep := json.NewEncoder(kept)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if failure := take(line, said, out, keep); failure != nil {
				return failure
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func take(line []byte, said map[string][]string, out io.Writer, keep *json.Encoder) error {
	var e event
	if line[0] != '{' || json.Unmarshal(line, &e) != nil {
		_, err := out.Write(line) // the go command's own
		return err
	}
	key := e.Package + "\n" + e.Test
	switch e.Action {
	case "output", "build-output":
		if e.Test == "" {
			return printed(out, e.Output)
		}
		said[key] = append(said[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			return unended(out, said, e, keep)
		}
		all := said[key]
		delete(said, key)
		r := record{Package: e.Package, Test: e.Test, Result: e.Action, Seconds: e.Elapsed}
		if e.Action == "fail" {
			r.Said = first(all)
			if err := printed(out, all...); err != nil {
				return err
			}
		}
		if e.Action == "skip" {
			r.Why = reason(all)
		}
		return keep.Encode(r)
	}
	return nil
}

// unended prints what the tests of a package that has failed said, when they did not end themselves, and keeps them as failed.
func unended(out io.Writer, said map[string][]string, e event, keep *json.Encoder) error {
	for key, all := range said {
		test, ours := strings.CutPrefix(key, e.Package+"\n")
		if !ours {
			continue
		}
		delete(said, key)
		if e.Action != "fail" {
			continue
		}
		if err := printed(out, all...); err != nil {
			return err
		}
		if err := keep.Encode(record{Package: e.Package, Test: test, Result: e.Action, Said: first(all)}); err != nil {
			return err
		}
	}
	return nil
}

// A summary has this many lines of a test, so many of them of one message, and so much of a line: what explains most failures. A daemon's
// log would push the next test's out of sight.
const (
	mostLines   = 12
	mostOfOne   = 3
	mostOfALine = 300
)

// message begins what a test says by t.Log and t.Error, and the line in which testscript says what failed.
var message = regexp.MustCompile(`^ +([^ ]+\.go:\d+|FAIL): `)

// first is the beginning of what a test said, and of each message in it. What go test says of every test is left out.
func first(said []string) (lines []string) {
	of := 0 // lines of this message
	for _, text := range said {
		if strings.HasPrefix(text, "=== ") || strings.HasPrefix(strings.TrimSpace(text), "--- ") {
			continue
		}
		if message.MatchString(text) {
			of = 0
		}
		if of++; of > mostOfOne {
			continue
		}
		if len(text) > mostOfALine {
			text = text[:mostOfALine] + "…\n"
		}
		if lines = append(lines, text); len(lines) == mostLines {
			break
		}
	}
	return lines
}

// printed leaves out what go test says with -v only.
func printed(out io.Writer, all ...string) error {
	for _, text := range all {
		if strings.HasPrefix(text, "=== ") || text == "PASS\n" {
			continue
		}
		if _, err := fmt.Fprint(out, text); err != nil {
			return err
		}
	}
	return nil
}

// reason is the last thing that a skipped test said.
func reason(said []string) string {
	for i := len(said) - 1; i >= 0; i-- {
		text := strings.TrimSpace(said[i])
		if text == "" || strings.HasPrefix(text, "=== ") || strings.HasPrefix(text, "--- ") {
			continue
		}
		if place, why, found := strings.Cut(text, ": "); found && strings.Contains(place, ".go:") {
			return why
		}
		return text
	}
	return "it does not say why"
}
