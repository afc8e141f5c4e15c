package hostlist_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/core/hostlist"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAListExpandsAsSlurmExpandsIt(t *testing.T) {
	hostnames := slurmsHostnames(t)
	for _, test := range []struct{ list, names string }{
		{"n1", "n1"},
		{"n1,gpu01,n1", "n1 gpu01 n1"},
		{"n[1-3,7],gpu01", "n1 n2 n3 n7 gpu01"},
		{"n[08-11]", "n08 n09 n10 n11"},
		{"n[098-101]", "n098 n099 n100 n101"},
		{"n[3,1]", "n3 n1"},
		{"n[1-2]-[3-4]", "n1-3 n1-4 n2-3 n2-4"},
		{"r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02"},
		{"a.b-c_d", "a.b-c_d"},
		{"n[0]", "n0"},
		// found/22: if there are three brackets, the last changes fastest, then the first. scontrol of 20.11,
		// 22.05, 24.11 and 26.05 agree on these.
		{"a[0-2]b[1-3]c[4-5]", "a0b1c4 a0b1c5 a1b1c4 a1b1c5 a2b1c4 a2b1c5 a0b2c4 a0b2c5 a1b2c4 a1b2c5 a2b2c4 a2b2c5 a0b3c4 a0b3c5 a1b3c4 a1b3c5 a2b3c4 a2b3c5"},
		{"a[0-1]b[0-1]c[0-1]d[0-1]", "a0b0c0d0 a0b0c0d1 a1b0c0d0 a1b0c0d1 a0b1c0d0 a0b1c0d1 a1b1c0d0 a1b1c0d1 a0b0c1d0 a0b0c1d1 a1b0c1d0 a1b0c1d1 a0b1c1d0 a0b1c1d1 a1b1c1d0 a1b1c1d1"},
		{"a[0-1][0-1][0-1]", "a000 a001 a100 a101 a010 a011 a110 a111"},
		{"a[0-1,5]b[07-08,3]c[0-1]", "a0b07c0 a0b07c1 a1b07c0 a1b07c1 a5b07c0 a5b07c1 a0b08c0 a0b08c1 a1b08c0 a1b08c1 a5b08c0 a5b08c1 a0b3c0 a0b3c1 a1b3c0 a1b3c1 a5b3c0 a5b3c1"},
		{"x,a[0-1]b[0-1]c[0-1],y", "x a0b0c0 a0b0c1 a1b0c0 a1b0c1 a0b1c0 a0b1c1 a1b1c0 a1b1c1 y"},
		// Lists that other programs read wrongly, from public reports. scontrol of the four releases agrees on these,
		// too.
		{"c1001a-s[11,17]", "c1001a-s11 c1001a-s17"},                                    // https://github.com/pytorch/ignite/pull/2204
		{"n[1-3,2-4]", "n1 n2 n3 n2 n3 n4"},                                             // https://github.com/pytorch/ignite/pull/2208
		{"rack[0-1]_blade[0-1]", "rack0_blade0 rack0_blade1 rack1_blade0 rack1_blade1"}, // https://github.com/NVIDIA/cloudai/pull/1023
		{"sh-[2,11]-[4]", "sh-2-4 sh-11-4"},                                             // https://github.com/clustershell/clustershell/issues/356
		// https://github.com/skypilot-org/skypilot/pull/8891
		{"ml-16-node-[001-002,004],ml-17-node-[001-003]", "ml-16-node-001 ml-16-node-002 ml-16-node-004 ml-17-node-001 ml-17-node-002 ml-17-node-003"},
		// https://github.com/clustershell/clustershell/pull/637: the order of nodes in several dimensions is not
		// their order in Slurm.
		{"r[1-2]c[1-2]s[1-2]b[1-2]", "r1c1s1b1 r1c1s1b2 r2c1s1b1 r2c1s1b2 r1c2s1b1 r1c2s1b2 r2c2s1b1 r2c2s1b2 " +
			"r1c1s2b1 r1c1s2b2 r2c1s2b1 r2c1s2b2 r1c2s2b1 r1c2s2b2 r2c2s2b1 r2c2s2b2"},
		{"sw[0-1]n[08-10]p[1,3]", "sw0n08p1 sw0n08p3 sw1n08p1 sw1n08p3 sw0n09p1 sw0n09p3 sw1n09p1 sw1n09p3 sw0n10p1 sw0n10p3 sw1n10p1 sw1n10p3"},
	} {
		got, err := hostlist.Expand(test.list)
		if err != nil || strings.Join(got, " ") != test.names {
			t.Errorf("Expand(%q) = %q, %v; want %s", test.list, got, err, test.names)
		}
		if hostnames != nil {
			if want := hostnames(test.list); want != test.names {
				t.Errorf("scontrol expands %q to %s, the table says %s", test.list, want, test.names)
			}
		}
	}
}

func TestSomeListsExpandThatSlurmDoesNotRead(t *testing.T) {
	for list, want := range map[string]string{"": "", "n[1-2]-ib": "n1-ib n2-ib", "[1-2]": "1 2",
		"a[0-1]b[0-1]c": "a0b0c a0b1c a1b0c a1b1c", // 24.11 and 26.05 read these two, in this order
		// https://github.com/clustershell/clustershell/issues/356 and https://github.com/dwighthubbard/sshmap/issues/5, in these releases.
		"sh-[2,11]-4":                    "sh-2-4 sh-11-4",
		"pud[1,2].udb.bf[3,4].yahoo.com": "pud1.udb.bf3.yahoo.com pud1.udb.bf4.yahoo.com pud2.udb.bf3.yahoo.com pud2.udb.bf4.yahoo.com",
		"a[0-1]b[0-1]c[0-1]d":            "a0b0c0d a0b0c1d a1b0c0d a1b0c1d a0b1c0d a0b1c1d a1b1c0d a1b1c1d",
	} {
		if got, err := hostlist.Expand(list); err != nil || strings.Join(got, " ") != want {
			t.Errorf("Expand(%q) = %q, %v; want %s", list, got, err, want)
		}
	}
}

// TestSeveralBracketsTurnInSlurmsOrder compares Expand with a plain second implementation: in the i-th name, the last
// bracket has digit i modulo its length, and the quotient gives the digits of the others from the left.
func TestSeveralBracketsTurnInSlurmsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 5).Draw(t, "lengths")
		suffix := rapid.SampledFrom([]string{"", "-ib"}).Draw(t, "suffix")
		list, count := "", 1
		for k, length := range lengths {
			list += fmt.Sprintf("%c[%d-%d]", 'a'+k, k, k+length-1)
			count *= length
		}
		turning := append([]int{len(lengths) - 1}, rangeOf(len(lengths)-1)...)
		var want []string
		for i := range count {
			digits := make([]int, len(lengths))
			rest := i
			for _, k := range turning {
				digits[k] = rest % lengths[k]
				rest /= lengths[k]
			}
			name := ""
			for k, d := range digits {
				name += fmt.Sprintf("%c%d", 'a'+k, k+d)
			}
			want = append(want, name+suffix)
		}
		got, err := hostlist.Expand(list + suffix)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s%s expands to %q, %v; want %q", list, suffix, got, err, want)
		}
	})
}

// rangeOf returns the numbers from 0 to n-1.
func rangeOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// slurmsHostnames returns a function that runs `scontrol show hostnames`, which is the reference. scontrol needs a
// configuration, but no running Slurm. If Slurm is not installed, slurmsHostnames returns nil, and the table is the only test.
func slurmsHostnames(t *testing.T) func(list string) string {
	scontrol, err := exec.LookPath("scontrol")
	if err != nil {
		t.Log("no scontrol here: the table is not compared with Slurm")
		return nil
	}
	file := filepath.Join(t.TempDir(), "slurm.conf")
	if err := os.WriteFile(file, []byte("ClusterName=oracle\nSlurmctldHost=localhost\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return func(list string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, scontrol, "show", "hostnames", list)
		c.Env = append(os.Environ(), "SLURM_CONF="+file)
		output, err := c.Output()
		if err != nil {
			t.Errorf("scontrol show hostnames %s: %v", list, err)
		}
		return strings.Join(strings.Fields(string(output)), " ")
	}
}

func TestAWrongListIsRefusedWithThePieceAndItsColumn(t *testing.T) {
	for _, test := range []struct {
		list, piece string
		column      int
	}{
		{"n1,,n2", "", 4},
		{"n1,", "", 4},
		{",", "", 1},
		{"n[1-3", "[1-3", 2},
		{"n1-3]", "n1-3]", 1},
		{"n[]", "", 3},
		{"n[1,]", "", 5},
		{"n[1,,2]", "", 5},
		{"a,n[3-1]", "3-1", 5},
		{"n[1-2-3]", "1-2-3", 3},
		{"n[a-c]", "a-c", 3},
		{"n[-1]", "-1", 3},
		{"n[[1-2]]", "[1-2", 3},
		{"n 1", "n 1", 1},
		{"n1\n", "n1\n", 1},
		{"n\u00e9", "n\u00e9", 1},
		{"n[1-65537]", "n[1-65537]", 1},
		{"n1,n[1-65536]", "n[1-65536]", 4},
		{"n[1-1000][1-1000]", "n[1-1000][1-1000]", 1},
		{"n[1-999999999999999999]", "n[1-999999999999999999]", 1},
		{"n[1-9999999999999999999]", "1-9999999999999999999", 3},
	} {
		names, err := hostlist.Expand(test.list)
		var wrong *hostlist.Error
		if !errors.As(err, &wrong) {
			t.Errorf("Expand(%q) = %d names, %v; want an error", test.list, len(names), err)
			continue
		}
		if wrong.Piece != test.piece || wrong.Column != test.column {
			t.Errorf("Expand(%q): column %d, %q; want %d, %q", test.list, wrong.Column, wrong.Piece, test.column, test.piece)
		}
	}
}

func TestAnErrorIsOneShortPrintableLine(t *testing.T) {
	_, err := hostlist.Expand(strings.Repeat("\xff\n\x00", 20000))
	if err == nil || len(err.Error()) > 300 {
		t.Fatalf("want a short error, got %v", err)
	}
	if i := strings.IndexFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
		t.Fatalf("not printable at %d: %q", i, err.Error())
	}
}

func TestTheLargestListIsAccepted(t *testing.T) {
	names, err := hostlist.Expand("n[1-65536]")
	if err != nil || len(names) != hostlist.MaxNames {
		t.Fatalf("%d names, %v", len(names), err)
	}
}

func TestCompactBracketsTheLastNumberOnly(t *testing.T) {
	hostnames := slurmsHostnames(t)
	for _, test := range []struct{ names, list string }{
		{"", ""},
		{"n1", "n1"},
		{"n3 n1 n2 n7", "n[1-3,7]"},
		{"n10 n9 n8", "n[8-10]"},
		{"n08 n09 n10", "n[08-10]"},
		{"n1 n1", "n1"},
		{"n1-ib0 n1-ib1 n2-ib0", "n1-ib[0-1],n2-ib0"},
		{"n1-a n2-a", "n1-a,n2-a"}, // Slurm reads nothing behind the last bracket
		{"1 2", "1,2"},             // Slurm does not read a bracket without a name, either
		{"login n1", "login,n1"},
		{"n1 n01", "n[1,01]"},
		{"n9 n010", "n[9,010]"},
		{"gpu1 n2 gpu2 n1", "gpu[1-2],n[1-2]"},
		{"n12345678901234567890 n12345678901234567891", "n12345678901234567890,n12345678901234567891"},
	} {
		if got := hostlist.Compact(strings.Fields(test.names)); got != test.list {
			t.Errorf("Compact(%s) = %s, want %s", test.names, got, test.list)
		}
		if hostnames != nil && test.list != "" {
			want, _ := hostlist.Expand(test.list)
			if got := hostnames(test.list); got != strings.Join(want, " ") {
				t.Errorf("scontrol expands the compact form %q to %s, we to %s", test.list, got, want)
			}
		}
	}
}

func TestCompactLeavesItsArgumentAlone(t *testing.T) {
	names := []string{"n2", "n1"}
	hostlist.Compact(names)
	if names[0] != "n2" {
		t.Error("the caller's slice was sorted")
	}
}

func TestNumbersAreSortedAsNumbers(t *testing.T) {
	want := strings.Fields("a a1 n n1 n01 n1a n2 n02-1 n2-2 n10 n010 nn")
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	hostlist.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestExpandAfterCompactIsTheSortedSetOfNames(t *testing.T) {
	name := rapid.StringMatching(`[a-c]{0,2}[0-2]{0,3}[-._a]?[0-9]{1,2}[b]?`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(name, 0, 40).Draw(t, "names")
		short := hostlist.Compact(names)
		got, err := hostlist.Expand(short)
		if err != nil {
			t.Fatalf("Compact wrote %q, which Expand refuses: %v", short, err)
		}
		want := slices.Clone(names)
		hostlist.Sort(want)
		want = slices.Compact(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%q expands to %q, want %q", short, got, want)
		}
		if again := hostlist.Compact(got); again != short {
			t.Fatalf("Compact is not stable: %q, then %q", short, again)
		}
	})
}

func TestSortIsTheOrderOfCompare(t *testing.T) {
	name := rapid.StringMatching(`[a0-2-]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		got := rapid.SliceOfN(name, 0, 20).Draw(t, "names")
		want := slices.Clone(got)
		slices.SortFunc(want, hostlist.Compare)
		hostlist.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestTheNaturalOrderIsAnOrder(t *testing.T) {
	name := rapid.StringMatching(`[a0-2-]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if hostlist.Compare(a, b) != -hostlist.Compare(b, a) || (hostlist.Compare(a, b) == 0) != (a == b) {
			t.Fatalf("%q and %q: %d, %d", a, b, hostlist.Compare(a, b), hostlist.Compare(b, a))
		}
		if hostlist.Compare(a, b) <= 0 && hostlist.Compare(b, c) <= 0 && hostlist.Compare(a, c) > 0 {
			t.Fatalf("%q <= %q <= %q, but not the first and the last", a, b, c)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "n[1-3,7],gpu01", "n[1-2]-[3-4]", "n[08-10", "n[1-99999999999]", "[,]", "\xff["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := hostlist.Expand(text)
		if err != nil {
			return
		}
		if len(names) > hostlist.MaxNames {
			t.Fatalf("%d names", len(names))
		}
		again, err := hostlist.Expand(hostlist.Compact(names))
		hostlist.Sort(names)
		if err != nil || !slices.Equal(again, slices.Compact(names)) {
			t.Fatalf("%q: its compact form %q does not expand to the same names: %v", text, hostlist.Compact(names), err)
		}
	})
}

func ExampleCompact() {
	names, _ := hostlist.Expand("n[01-03],gpu1")
	fmt.Println(names)
	fmt.Println(hostlist.Compact(names))
	// Output:
	// [n01 n02 n03 gpu1]
	// gpu1,n[01-03]
}

// Compact takes 5 to 10 ms on the project's machine for 10,000 names in random order.
func BenchmarkCompact10000(b *testing.B) {
	names := make([]string, 10000)
	for i := range names {
		names[i] = fmt.Sprintf("node%05d", i)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	b.ReportAllocs()
	for b.Loop() {
		hostlist.Compact(names)
	}
}

func BenchmarkExpand10000(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hostlist.Expand("node[00001-10000]"); err != nil {
			b.Fatal(err)
		}
	}
}
