package lab

import "testing"

func TestAPromiseIsBrokenByMoreThanASlowBatchSystem(t *testing.T) {
	const (
		late  = `{"job":5,"verb":"started","args":{"nodes":"n[5-6]","planned":365,"began":366,"ends":382}}` + "\n"
		moved = `{"job":5,"verb":"promise broken","args":{"promised":381,"end":384,"seconds":3,"cause":"batch system"}}` + "\n"
	)
	grew := func(lateness, cause string) string {
		return `{"job":5,"verb":"grew","args":{"planned":374,"lateness":` + lateness + `,"nodes":"n[5-8]"` + cause + `}}` + "\n"
	}
	for name, c := range map[string]struct {
		journal string
		broken  int
	}{
		"nothing happened":                              {"", 0},
		"the start and the growth took so long":         {late + moved + grew("1.6", ""), 0},
		"nodes were cleaned up so late":                 {late + moved + grew("2", `,"cause":"batch system"`), 0},
		"they took less":                                {late + moved + grew("0.9", ""), 1},
		"nothing was late":                              {moved, 1},
		"the growth waited for another job's nodes":     {late + moved + grew("3", `,"cause":"late shrinker"`), 1},
		"the growth waited for an ordinary job's nodes": {late + moved + grew("3", `,"cause":"ordinary overrun"`), 1},
	} {
		t.Run(name, func(t *testing.T) {
			broken, err := BrokenPromises(c.journal)
			if err != nil || len(broken) != c.broken {
				t.Errorf("%q, %v; want %d", broken, err, c.broken)
			}
		})
	}
	if _, err := BrokenPromises("no entry\n"); err == nil {
		t.Error("what is no entry is taken for one")
	}
}
