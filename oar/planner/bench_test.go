package planner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/oar/planner"
)

// BenchmarkPlan plans waiting jobs with two configurations each, on hosts half of which are in use. It plans by numbers of hosts (hosts are
// alike), and resource by resource (hosts differ). A pass may take half a second for 2,000 jobs on 1,000 hosts, including its SQL.
func BenchmarkPlan(b *testing.B) {
	for _, hosts := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("hosts-%d", hosts), func(b *testing.B) { planOn(b, hosts) })
	}
}

func planOn(b *testing.B, hosts int) {
	usable := planner.AllOf(hosts)
	each, switches := make(planner.Property, hosts), make(planner.Property, hosts)
	for h := range hosts {
		each[h], switches[h] = int32(h), int32(h/20)
	}
	flat, deep := planner.NewTree(usable, each), planner.NewTree(usable, switches, each)
	var claims []planner.Claim
	for h := 0; h < hosts; h += 4 {
		claims = append(claims, planner.Claim{Resources: planner.SetOf(hosts, h, h+1), From: 0, To: core.Time(600 + 30*h)})
	}
	for _, n := range []int{2000, 10000} {
		random := rand.New(rand.NewPCG(1, 2))
		var alike, mixed []planner.Job
		for id := range int64(n) {
			size, length := 1+random.IntN(64), core.Time(600*(1+random.IntN(24)))
			alike = append(alike, planner.Job{ID: id, Choices: []planner.Choice{onHosts(2*id, size, length, flat), onHosts(2*id+1, 2*size, length*6/10, flat)}})
			mixed = append(mixed, alike[id])
			if id%4 == 0 {
				mixed[id] = planner.Job{ID: id, Choices: []planner.Choice{{Duration: length, Groups: []planner.Group{{Tree: deep, Counts: []int{1 + size%4, 4}}}}}}
			}
		}
		b.Run(fmt.Sprintf("alike-%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, ok := planner.PlanAlike(earliest, usable, 0, claims, alike); !ok {
					b.Fatal("the hosts are alike, and were not counted")
				}
			}
		})
		share := planner.Rule{Policy: sched.Repeated{Sizing: sizing.Share{}}}
		for i, c := range claims {
			share.Running = append(share.Running, planner.Running{Job: -int64(i) - 1, Resources: c.Resources, Until: c.To, Listed: []core.EP{{{Duration: c.To, Nodes: 2}}, {{Duration: c.To / 2, Nodes: 4}}}})
		}
		b.Run(fmt.Sprintf("capped-%d", n), func(b *testing.B) {
			for b.Loop() {
				share.Capped(usable, 0, nil, mixed)
			}
		})
		b.Run(fmt.Sprintf("mixed-%d", n), func(b *testing.B) {
			for b.Loop() {
				cal := planner.NewCalendar(usable)
				for _, c := range claims {
					cal.Take(c.Resources, c.From, c.To)
				}
				planner.Plan(cal, 0, mixed, nil)
			}
		})
	}
}
