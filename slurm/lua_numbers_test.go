package slurm_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"accordion/internal/testenv"
	reader "accordion/slurm/number"
)

// genericInLua returns the result of parsing lists of resources in job_submit.lua.
func genericInLua(t testing.TB, lists []string) []string {
	t.Helper()
	lua := testenv.Program(t, "lua5.1")
	var in, out, errs bytes.Buffer
	for _, list := range lists {
		in.WriteString(hex.EncodeToString([]byte(list)) + "\n")
	}
	c := exec.CommandContext(t.Context(), lua, "testdata/generic.lua", "job_submit.lua")
	c.Stdin, c.Stdout, c.Stderr = &in, &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("lua5.1: %v: %s", err, errs.String())
	}
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(answers) != len(lists) {
		t.Fatalf("%d lists gave %d results", len(lists), len(answers))
	}
	return answers
}

// job_submit.lua is tested with the same table as the sidecar's parser (slurm/number).
func TestThePluginReadsRequestsByTheSameTable(t *testing.T) {
	text, err := os.ReadFile("number/testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lists, want []string
	for line := range strings.Lines(string(text)) {
		if list, means, ok := strings.Cut(strings.TrimSpace(line), "|"); ok && list[0] != '#' {
			lists, want = append(lists, strings.TrimSpace(list)), append(want, strings.TrimSpace(means))
		}
	}
	if len(lists) < 60 {
		t.Fatalf("the table has %d rows", len(lists))
	}
	for i, got := range genericInLua(t, lists) {
		if got != want[i] {
			t.Errorf("%q asks for %q, want %q", lists[i], got, want[i])
		}
	}
}

// The Lua parser and the Go parser get the same random requests, valid and invalid.
func TestThePluginAndTheSidecarReadTheSameOfAnyRequest(t *testing.T) {
	random := rand.New(rand.NewPCG(45, 13))
	pieces := []string{"gres", "GRES", "gpu", "tmp", "a100", "3g.20gb", "no_consume", "none", "cpu", "mem", "license", "0", "2", "007", "10G", "1kb", "3MiB", "5x", "1.5G", "99999999999999999999", ":", ":", ":", "/", "=", ",", "-", "P"}
	var lists, want []string
	for range 20000 {
		var b strings.Builder
		for range random.IntN(8) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		var all []string
		for r := range reader.Resources(b.String()) {
			if r.Kind == reader.Device {
				all = append(all, fmt.Sprintf("%s %d", r.Name, r.Count))
			}
		}
		lists, want = append(lists, b.String()), append(want, strings.Join(all, ", "))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(want)))) < 2000 {
		t.Error("the requests are too much alike")
	}
	for i, got := range genericInLua(t, lists) {
		if got != want[i] {
			t.Fatalf("%q: the plug-in reads %q, the sidecar %q", lists[i], got, want[i])
		}
	}
}
