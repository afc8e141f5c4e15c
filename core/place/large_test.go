package place_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/place"
	"accordion/core/profile"
)

// chooser chooses the nodes that applications free, at random. It records the nodes that each application freed, in order.
type chooser struct {
	random *rand.Rand
	freed  map[core.JobID][][]int
}

func (c *chooser) choose(job core.JobID, held []int, n int) []int {
	c.random.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	chosen := slices.Clone(held[:n])
	c.freed[job] = append(c.freed[job], chosen)
	return chosen
}

// The test checks conditions C2 to C4 of RR-7205, section 3.2, on machines of up to 10,000 nodes.
func TestLargeSchedulesKeepEveryNodeToOneJobAndFreeWhatTheJobsChoose(t *testing.T) {
	rounds := 1
	if *longFlag {
		rounds = 20
	}
	for _, size := range []struct{ nodes, applications int }{{1, 20}, {64, 200}, {1000, 200}, {10_000, 60}} {
		for round := range rounds {
			t.Run(fmt.Sprintf("%d nodes, round %d", size.nodes, round+1), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(size.nodes), uint64(round)))
				eps := make([]core.EP, size.applications)
				for i := range eps {
					for range 1 + random.IntN(8) {
						eps[i] = append(eps[i], core.Step{Duration: 1 + random.Int64N(1000), Nodes: 1 + random.IntN((size.nodes+1)/2)})
					}
				}
				plan, err := ep.Schedule(profile.New(size.nodes), eps, nil, ep.Algorithm{Limit: ep.Unlimited, LeastWaste: true})
				if err != nil {
					t.Fatal(err)
				}
				c := &chooser{random: random, freed: map[core.JobID][][]int{}}
				assigned, err := place.Assign(size.nodes, plan, c.choose)
				if err != nil {
					t.Fatal(err)
				}
				checkOwners(t, size.nodes, plan, assigned)
				for i, a := range plan {
					checkFreed(t, a, assigned[i], c.freed[a.Job])
				}
			})
		}
	}
}

// checkOwners fails the test if a step has a wrong number of nodes, or if two steps have the same node at the same time.
func checkOwners(t *testing.T, nodes int, plan []core.Allocation, assigned [][]place.Interval) {
	t.Helper()
	type use struct {
		from, to core.Time
		job      core.JobID
	}
	uses := make([][]use, nodes)
	for i, a := range plan {
		at := a.Start
		for k, s := range a.EP {
			got := assigned[i][k]
			if got.From != at || got.To != at+s.Duration || len(got.Nodes) != s.Nodes {
				t.Fatalf("C2: step %d of job %d is [%d, %d) with %d nodes; want [%d, %d) with %d", k+1, a.Job, got.From, got.To, len(got.Nodes), at, at+s.Duration, s.Nodes)
			}
			at = got.To
			for _, node := range got.Nodes {
				uses[node] = append(uses[node], use{got.From, got.To, a.Job})
			}
		}
	}
	for node, all := range uses {
		slices.SortFunc(all, func(a, b use) int { return cmp.Compare(a.from, b.from) })
		for i := 1; i < len(all); i++ {
			if all[i].from < all[i-1].to {
				t.Fatalf("C3: node %d is with job %d until %d and with job %d from %d", node, all[i-1].job, all[i-1].to, all[i].job, all[i].from)
			}
		}
	}
}

func isIn(sorted []int, node int) bool {
	_, found := slices.BinarySearch(sorted, node)
	return found
}

// checkFreed fails the test if a job keeps a node that it chose to free, or loses another node.
func checkFreed(t *testing.T, a core.Allocation, steps []place.Interval, freed [][]int) {
	t.Helper()
	for k := 1; k < len(steps); k++ {
		kept, after := slices.Clone(steps[k-1].Nodes), steps[k].Nodes
		if len(after) < len(kept) {
			chosen := slices.Sorted(slices.Values(freed[0]))
			freed = freed[1:]
			kept = slices.DeleteFunc(kept, func(node int) bool { return isIn(chosen, node) })
			if !slices.Equal(kept, after) {
				t.Fatalf("C4: job %d shrinks to %d nodes and keeps others than it chose to", a.Job, len(after))
			}
			continue
		}
		for _, node := range kept {
			if !isIn(after, node) {
				t.Fatalf("C4: job %d grows to %d nodes and loses node %d", a.Job, len(after), node)
			}
		}
	}
	if len(freed) > 0 {
		t.Fatalf("C4: job %d was asked %d times too often what it frees", a.Job, len(freed))
	}
}
