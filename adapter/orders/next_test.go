package orders

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/adapter/part"
	"accordion/core"
)

const now core.Time = 1000

var (
	held     = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Held: true, Mark: "accordion:launch=7", Comment: "launch=7"}
	parked   = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Held: true, Mark: "accordion:launch=7", Comment: "launch=7", Reservation: "accordion-park"} // as Slurm's driver holds jobs
	theirs   = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Held: true, HeldByUser: true, Comment: "launch=7"}
	released = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Mark: "accordion:launch=7", Comment: "launch=7", Reservation: "accordion-app-7"}
	tying    = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Held: true, Mark: "accordion:launch=7", Comment: "launch=7", Reservation: "accordion-app-7"}
	loose    = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Mark: "accordion:launch=7", Comment: "launch=7"}
	tied     = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Running, Mark: "accordion:launch=7", Comment: "launch=7", Reservation: "accordion-app-7", Nodes: two}
	runs     = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Running, Mark: "accordion:launch=7", Comment: "launch=7", Nodes: two}
	made7    = adapter.Job{Key: adapter.Key{ID: 9}, State: adapter.Pending, Held: true, Mark: "accordion:launch=7"}

	two   = []string{"n1", "n2"}
	other = []string{"n2", "n3"}
)

func reserved(nodes []string) *adapter.Reservation {
	return &adapter.Reservation{Name: "accordion-app-7", Nodes: nodes}
}

func TestNextIsWhatAnOrderNeedsNow(t *testing.T) {
	ready := Memory{Prepared: 3, Nodes: two}
	for _, c := range []struct {
		name  string
		want  part.Want
		sight Sight
		know  Memory
		verb  Verb
		stand part.Stand
		keep  bool
	}{
		{"not read yet", part.Start, Sight{}, Memory{}, Nothing, part.Waiting, true},
		{"wait: held by its user", part.Wait, Sight{Job: &theirs}, Memory{}, Adopt, part.Waiting, false},
		{"wait: held", part.Wait, Sight{Job: &held}, Memory{}, Nothing, part.Waiting, false},
		{"wait: released by somebody", part.Wait, Sight{Job: &loose}, Memory{}, Hold, part.Waiting, false},
		{"wait: it runs", part.Wait, Sight{Job: &runs}, Memory{}, End, part.Running, false},
		{"wait: it is gone", part.Wait, Sight{Gone: true}, Memory{}, Nothing, part.Over, false},
		{"wait: it cannot be changed", part.Wait, Sight{Job: &held}, Memory{Frozen: now, Stiff: true}, End, part.Waiting, false},
		{"wait: it could not be changed, and is gone", part.Wait, Sight{Gone: true}, Memory{Frozen: now, Stiff: true}, Nothing, part.Over, false},

		{"prepare: not adopted", part.Prepare, Sight{Job: &theirs, Nodes: two}, Memory{}, Adopt, part.Waiting, false},
		{"prepare: nodes", part.Prepare, Sight{Job: &held, Nodes: two}, Memory{}, Prepare, part.Waiting, true},
		{"prepare: still released from the try before", part.Prepare, Sight{Job: &released, Nodes: two}, Memory{}, Hold, part.Waiting, false},
		{"prepare: no nodes", part.Prepare, Sight{Job: &held, Why: "nodes of ordinary job 2"}, Memory{}, Nothing, part.Refused, false},
		{"prepare: no nodes, and a reservation ahead", part.Prepare, Sight{Job: &held, Reservation: reserved(two)}, Memory{}, Nothing, part.Waiting, false},
		{"prepare: done", part.Prepare, Sight{Job: &held, Reservation: reserved(two)}, ready, Nothing, part.Prepared, true},
		{"prepare: done, and its reservation went by itself", part.Prepare, Sight{Job: &held}, ready, Nothing, part.Refused, false},
		{"prepare: done in the try before", part.Prepare, Sight{Job: &held, Reservation: reserved(two), Nodes: other}, Memory{Prepared: 2, Nodes: two}, Prepare, part.Waiting, true},
		{"prepare: refused before", part.Prepare, Sight{Job: &held, Nodes: two}, Memory{Refused: 3}, Nothing, part.Refused, false},
		{"prepare: refused, not yet clean", part.Prepare, Sight{Job: &held, Reservation: reserved(two)}, Memory{Refused: 3}, Nothing, part.Waiting, false},
		{"prepare: it could not be changed a moment ago", part.Prepare, Sight{Job: &held, Nodes: two}, Memory{Frozen: now}, Prepare, part.Waiting, true},
		{"prepare: it cannot be changed", part.Prepare, Sight{Job: &held, Nodes: two}, Memory{Frozen: now, Stiff: true}, End, part.Waiting, false},
		{"prepare: it runs", part.Prepare, Sight{Job: &runs, Nodes: two}, Memory{}, End, part.Running, false},

		{"wait: parked", part.Wait, Sight{Job: &parked}, Memory{}, Nothing, part.Waiting, false},
		{"prepare: parked", part.Prepare, Sight{Job: &parked, Nodes: two}, Memory{}, Prepare, part.Waiting, true},
		{"start: prepared", part.Start, Sight{Job: &held, Reservation: reserved(two)}, ready, Start, part.Prepared, true},
		{"start: prepared by the sidecar before", part.Start, Sight{Job: &held, Reservation: reserved(two)}, Memory{}, Start, part.Prepared, true},
		{"start: its reservation is gone", part.Start, Sight{Job: &held}, ready, Nothing, part.Refused, false},
		{"start: its reservation is another", part.Start, Sight{Job: &held, Reservation: reserved(other)}, ready, Nothing, part.Waiting, false},
		{"start: released", part.Start, Sight{Job: &released, Reservation: reserved(two)}, ready, Nothing, part.Starting, true},
		{"start: released without its reservation", part.Start, Sight{Job: &loose, Reservation: reserved(two)}, ready, Hold, part.Prepared, true},
		{"start: it runs, tied", part.Start, Sight{Job: &tied, Reservation: reserved(two)}, ready, Detach, part.Running, true},
		{"start: it runs", part.Start, Sight{Job: &runs, Reservation: reserved(two)}, ready, Nothing, part.Running, false},
		{"start: it runs elsewhere", part.Start, Sight{Job: &runs}, Memory{Prepared: 3, Nodes: other}, End, part.Running, false},
		{"start: it is gone", part.Start, Sight{Gone: true}, ready, Nothing, part.Over, false},

		{"run", part.Run, Sight{Job: &runs}, ready, Nothing, part.Running, false},
		{"run: it waits again", part.Run, Sight{Job: &loose}, ready, End, part.Starting, false},
		{"run: it waits again, and cannot be changed", part.Run, Sight{Job: &loose}, Memory{Frozen: now, Stiff: true}, End, part.Starting, false},
		{"run: it is gone", part.Run, Sight{Gone: true}, Memory{Ran: two, Gone: runs.Key}, Ask, part.Running, false},
		{"run: it is gone, and nobody knows how", part.Run, Sight{Gone: true}, Memory{Ran: two, Ended: now}, Nothing, part.Over, false},
		{"run: it ends", part.Run, Sight{Gone: true, Ends: true}, Memory{Ran: two, Ended: now, Gone: runs.Key}, Nothing, part.Running, false},
		{"run: it ends, and failed", part.Run, Sight{Gone: true, Ends: true}, Memory{Ran: two, Failed: true, Gone: runs.Key}, Nothing, part.Over, false},
		{"ghost: it is gone", part.Ghost, Sight{Gone: true}, Memory{Ran: two, Gone: runs.Key}, Ask, part.Running, false},
		{"drop: held", part.Drop, Sight{Job: &held}, ready, Nothing, part.Waiting, false},
		{"drop: held, reserved", part.Drop, Sight{Job: &held, Reservation: reserved(two)}, ready, Nothing, part.Prepared, false},
		{"drop: released", part.Drop, Sight{Job: &released, Reservation: reserved(two)}, ready, Hold, part.Starting, false},
		{"drop: its release may still come", part.Drop, Sight{Job: &tying, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, Nothing, part.Starting, true},
		{"drop: its release may still come, again", part.Drop, Sight{Job: &released, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, Nothing, part.Starting, true},
		{"drop: the release of a job of the batch system's own may still come", part.Drop, Sight{Job: &made7, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, End, part.Prepared, true},
		{"drop: its release came", part.Drop, Sight{Job: &tied, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, End, part.Running, false},
		{"drop: its release comes no more", part.Drop, Sight{Job: &tying, Reservation: reserved(two)}, ready, Hold, part.Starting, false},
		{"wait: its release may still come", part.Wait, Sight{Job: &tying, Reservation: reserved(two)}, Memory{Unsure: true}, Nothing, part.Waiting, true},
		{"end: its release may still come", part.End, Sight{Job: &tying, Reservation: reserved(two)}, Memory{Unsure: true}, End, part.Waiting, false},
		{"drop: it runs", part.Drop, Sight{Job: &runs}, ready, End, part.Running, false},
		{"end: it waits", part.End, Sight{Job: &held}, ready, End, part.Waiting, false},
		{"end: it runs", part.End, Sight{Job: &runs}, ready, End, part.Running, false},
		{"end: it is over", part.End, Sight{Gone: true}, ready, Nothing, part.Over, false},
		{"ghost: it runs", part.Ghost, Sight{Job: &runs}, ready, Nothing, part.Running, false},
		{"ghost: it waits again", part.Ghost, Sight{Job: &held}, Memory{}, End, part.Starting, false},
		{"ghost: kept, and it runs", part.Ghost, Sight{Job: &runs, Ghost: reserved(two)}, Memory{}, Nothing, part.Ghosted, false},
		{"ghost: kept, and it is gone", part.Ghost, Sight{Gone: true, Ghost: reserved(two)}, Memory{Ran: two}, Nothing, part.Over, false},
		{"ghost: nobody knows where it ran", part.Ghost, Sight{Gone: true}, Memory{}, Nothing, part.Over, false},
	} {
		c.sight.Now = now
		o := part.Order{Application: 7, Job: 5, Want: c.want, Try: 3, Hosts: 2, Until: now + 5, Why: "for its user"}
		if c.sight.Job == &made7 {
			o.Job = 0
		}
		got := Next(o, c.sight, c.know)
		if got.Verb != c.verb || got.Stand != c.stand || got.Keep != c.keep {
			t.Errorf("%s: %q, %s, keep %t; want %q, %s, %t", c.name, got.Verb, stands[got.Stand], got.Keep, c.verb, stands[c.stand], c.keep)
		}
		if got.Verb == End && got.Why == "" {
			t.Errorf("%s: its user cannot read why it ends", c.name)
		}
	}
}

func TestAJobThatIsOverSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name string
		want part.Want
		know Memory
		says string
	}{
		{"it ended by itself", part.Drop, Memory{Ended: now}, ""},
		{"nobody saw it", part.Drop, Memory{}, "there is no such job"},
		{"its try was refused", part.Drop, Memory{Refused: 3, Why: "no nodes"}, "no nodes"},
		{"its try before was refused", part.Drop, Memory{Refused: 2, Why: "no nodes", Ended: now}, ""},
		{"it could not be changed", part.Drop, Memory{Stiff: true}, stiff},
		{"it could not be changed, which was found in this try", part.Drop, Memory{Refused: 3, Why: "shaping: not now", Stiff: true}, stiff},
		{"it could not be untied from its reservation while it ran", part.Run, Memory{Ran: two, Ended: now, Failed: true, Frozen: now, Stiff: true}, ""},
	} {
		o := part.Order{Application: 7, Job: 5, Want: c.want, Try: 3, Hosts: 2}
		if got := Next(o, Sight{Gone: true, Now: now}, c.know); got.Stand != part.Over || got.Note != c.says {
			t.Errorf("%s: %s, %q; want over, %q", c.name, stands[got.Stand], got.Note, c.says)
		}
	}
}

func TestNextOfAJobThatTheBatchSystemMakes(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  part.Want
		sight Sight
		know  Memory
		verb  Verb
		stand part.Stand
	}{
		{"wait: there is none", part.Wait, Sight{Gone: true}, Memory{}, Nothing, part.Waiting},
		{"prepare: there is none", part.Prepare, Sight{Gone: true, Nodes: two}, Memory{}, Prepare, part.Waiting},
		{"prepare: made", part.Prepare, Sight{Job: &made7, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two}, Nothing, part.Prepared},
		{"prepare: refused", part.Prepare, Sight{Job: &made7}, Memory{Refused: 3}, End, part.Waiting},
		{"drop: made", part.Drop, Sight{Job: &made7}, Memory{}, End, part.Prepared},
		{"drop: ended", part.Drop, Sight{Gone: true}, Memory{}, Nothing, part.Waiting},
		{"start: ended", part.Start, Sight{Gone: true}, Memory{Prepared: 3}, Nothing, part.Over},
	} {
		got := Next(part.Order{Application: 7, Want: c.want, Try: 3, Hosts: 2, Why: "for its user"}, c.sight, c.know)
		if got.Verb != c.verb || got.Stand != c.stand {
			t.Errorf("%s: %q, %s; want %q, %s", c.name, got.Verb, stands[got.Stand], c.verb, stands[c.stand])
		}
	}
}

func TestAJobThatNoOrderNamesDoesNotStartByItself(t *testing.T) {
	for verb, jobs := range map[Verb][]*adapter.Job{Nothing: {&held, &parked, &theirs, &runs, &tied}, Hold: {&released, &loose}, End: {&made7}} {
		for _, j := range jobs {
			if got := Left(j); got != verb {
				t.Errorf("%+v: %q, want %q", *j, got, verb)
			}
		}
	}
}

func TestABatchSystemsWordTellsWhetherAJobFailed(t *testing.T) {
	for why, want := range map[string]bool{"COMPLETED": false, "": false, "None": false, "CANCELLED by 0": true, "FAILED": true, "NODE_FAIL": true, "Error": true, "Terminated": false} {
		if failed(why) != want {
			t.Errorf("%q: failed is %t", why, !want)
		}
	}
}

func TestAGhostLastsAsLongAsItsOrderWhateverBecomesOfItsJob(t *testing.T) {
	for name, c := range map[string]struct {
		sight Sight
		know  Memory
		want  []string
	}{
		"it runs":                          {Sight{Job: &runs}, Memory{}, two},
		"it ran":                           {Sight{Gone: true}, Memory{Ran: two}, two},
		"it ran, before a restart":         {Sight{Gone: true, Ghost: reserved(two)}, Memory{}, two},
		"nobody knows where":               {Sight{Gone: true}, Memory{}, nil},
		"its time is over, and it runs on": {Sight{Job: &runs, Now: now + 5}, Memory{}, nil},
	} {
		if got := Next(part.Order{Application: 7, Job: 5, Want: part.Ghost, Until: now + 5}, c.sight, c.know); !slices.Equal(got.Ghost, c.want) {
			t.Errorf("%s: kept are %v, want %v", name, got.Ghost, c.want)
		}
	}
}
