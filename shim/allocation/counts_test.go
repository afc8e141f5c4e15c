package allocation

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCountsAreReadAsSlurmWritesThem(t *testing.T) {
	for text, want := range map[string]Counts{
		"4":                   {4},
		"4(x2)":               {4, 4},
		"4(x2),2":             {4, 4, 2},
		"1,2(x1)":             {1, 2},
		"":                    nil,
		"0":                   nil,
		"-1":                  nil,
		"+1":                  nil,
		"4(x0)":               nil,
		"4(x2":                nil,
		"4(x2)3":              nil,
		"4,":                  nil,
		"4(x)":                nil,
		"4 (x2)":              nil,
		"9999999999":          nil,
		"1(x99999999)":        nil,
		"1(x60000),1(x60000)": nil,
	} {
		got, ok := ParseCounts(text)
		if ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}

func TestCountsAreReadBackAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Counts(rapid.SliceOfN(rapid.IntRange(1, 3), 1, 40).Draw(t, "counts"))
		got, ok := ParseCounts(want.String())
		if !ok || !slices.Equal(got, want) {
			t.Fatalf("%v is written %q and read as %v", want, want, got)
		}
	})
}

func TestSpreadingLosesNoTaskAndIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 50).Draw(t, "nodes")
		tasks := rapid.IntRange(nodes, 1000).Draw(t, "tasks")
		c := Spread(tasks, nodes)
		if len(c) != nodes || c.Sum() != tasks || slices.Max(c)-slices.Min(c) > 1 {
			t.Fatalf("%d tasks on %d nodes: %v", tasks, nodes, c)
		}
	})
}

func FuzzParseCounts(f *testing.F) {
	for _, s := range []string{"4(x2),2", "4(x", "1(x65536)", "07"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := ParseCounts(text)
		if !ok {
			return
		}
		again, ok := ParseCounts(c.String())
		if !ok || !slices.Equal(c, again) {
			t.Fatalf("%q is %v, written %q, read as %v", text, c, c, again)
		}
	})
}
