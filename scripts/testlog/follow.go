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

// record is one finished test, as it is stored.
type record struct {
	Package, Test, Result string
	Seconds               float64
	Why                   string   `json:",omitempty"` // why the test was skipped
	Said                  []string `json:",omitempty"` // the first lines of a failed test's output
}

// follow prints the output of packages and of failing tests as it arrives, and records each test. If a test has not
// finished when its package has, follow records the test as failed and prints its output, too.
func follow(in io.Reader, out, kept io.Writer) error {
	said := map[string][]string{} // output of unfinished tests
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
		_, err := out.Write(line) // this is output of the go command itself
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

// unended prints the output of unfinished tests of a failed package, and records them as failed.
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

// These constants limit a summary: the lines of a test, the lines of each message, and the bytes of a line. They
// are large enough to explain most failures. With the whole log of a daemon, the next test's output would be hard
// to find.
const (
	mostLines   = 12
	mostOfOne   = 3
	mostOfALine = 300
)

// message matches the beginning of a message that a test prints by t.Log or t.Error. It also matches the line in
// which testscript reports a failure.
var message = regexp.MustCompile(`^ +([^ ]+\.go:\d+|FAIL): `)

// first returns the first lines of a test's output, and of each message in it. It omits the lines that go test
// prints for every test.
func first(said []string) (lines []string) {
	of := 0 // number of lines of the current message
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

// printed writes output without the lines that go test prints only with -v.
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

// reason returns the last message of a skipped test.
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
