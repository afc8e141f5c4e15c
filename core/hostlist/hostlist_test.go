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
	for list, want := range map[string]string{"": "", "n[1-2]-ib": "n1-ib n2-ib", "[1-2]": "1 2"} {
		if got, err := hostlist.Expand(list); err != nil || strings.Join(got, " ") != want {
			t.Errorf("Expand(%q) = %q, %v; want %s", list, got, err, want)
		}
	}
}

// slurmsHostnames is `scontrol show hostnames`, the oracle; nil where Slurm is not installed, and the table stands
// alone. It needs a configuration, but no running Slurm.
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
		{"1 2", "1,2"},             // nor a bracket without a name
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

// Measured 5 to 10 ms on the project's machine for 10,000 names in random order.
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
