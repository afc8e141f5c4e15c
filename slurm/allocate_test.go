package slurm

import "testing"

func TestAGenericResourceIsReadAsEveryReleaseWritesIt(t *testing.T) {
	for item, want := range map[string]struct {
		name  string
		count int
	}{
		"gpu:2":           {"gpu", 2}, // 20.11
		"gpu":             {"gpu", 1},
		"gpu:a100":        {"gpu:a100", 1},
		"gpu:a100:3":      {"gpu:a100", 3},
		"gres:gpu:2":      {"gpu", 2}, // 21.08 to 23.11
		"gres:gpu:a100":   {"gpu:a100", 1},
		"gres/gpu:2":      {"gpu", 2}, // later
		"gres/gpu=2":      {"gpu", 2},
		"gres/gpu:a100=4": {"gpu:a100", 4},
		"gres/gpu":        {"gpu", 1},
		"cpu=4":           {},
		"cpu:4":           {},
		"mem=2000M":       {},
		"license/matlab":  {},
		"billing=8":       {},
		"":                {},
	} {
		if name, count := gres(item); name != want.name || count != want.count {
			t.Errorf("%q is %d of %q, want %d of %q", item, count, name, want.count, want.name)
		}
	}
}
