package orders

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/adapter/delegated"
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
		want  delegated.Want
		sight Sight
		know  Memory
		verb  Verb
		stand delegated.Stand
		keep  bool
	}{
		{"not read yet", delegated.Start, Sight{}, Memory{}, Nothing, delegated.Waiting, true},
		{"wait: held by its user", delegated.Wait, Sight{Job: &theirs}, Memory{}, Adopt, delegated.Waiting, false},
		{"wait: held", delegated.Wait, Sight{Job: &held}, Memory{}, Nothing, delegated.Waiting, false},
		{"wait: released by somebody", delegated.Wait, Sight{Job: &loose}, Memory{}, Hold, delegated.Waiting, false},
		{"wait: it runs", delegated.Wait, Sight{Job: &runs}, Memory{}, End, delegated.Running, false},
		{"wait: it is gone", delegated.Wait, Sight{Gone: true}, Memory{}, Nothing, delegated.Over, false},
		{"wait: it cannot be changed", delegated.Wait, Sight{Job: &held}, Memory{Frozen: now, Stiff: true}, End, delegated.Waiting, false},
		{"wait: it could not be changed, and is gone", delegated.Wait, Sight{Gone: true}, Memory{Frozen: now, Stiff: true}, Nothing, delegated.Over, false},

		{"prepare: not adopted", delegated.Prepare, Sight{Job: &theirs, Nodes: two}, Memory{}, Adopt, delegated.Waiting, false},
		{"prepare: nodes", delegated.Prepare, Sight{Job: &held, Nodes: two}, Memory{}, Prepare, delegated.Waiting, true},
		{"prepare: still released from the try before", delegated.Prepare, Sight{Job: &released, Nodes: two}, Memory{}, Hold, delegated.Waiting, false},
		{"prepare: no nodes", delegated.Prepare, Sight{Job: &held, Why: "nodes of ordinary job 2"}, Memory{}, Nothing, delegated.Refused, false},
		{"prepare: no nodes, and a reservation ahead", delegated.Prepare, Sight{Job: &held, Reservation: reserved(two)}, Memory{}, Nothing, delegated.Waiting, false},
		{"prepare: done", delegated.Prepare, Sight{Job: &held, Reservation: reserved(two)}, ready, Nothing, delegated.Prepared, true},
		{"prepare: done, and its reservation went by itself", delegated.Prepare, Sight{Job: &held}, ready, Nothing, delegated.Refused, false},
		{"prepare: done in the try before", delegated.Prepare, Sight{Job: &held, Reservation: reserved(two), Nodes: other}, Memory{Prepared: 2, Nodes: two}, Prepare, delegated.Waiting, true},
		{"prepare: refused before", delegated.Prepare, Sight{Job: &held, Nodes: two}, Memory{Refused: 3}, Nothing, delegated.Refused, false},
		{"prepare: refused, not yet clean", delegated.Prepare, Sight{Job: &held, Reservation: reserved(two)}, Memory{Refused: 3}, Nothing, delegated.Waiting, false},
		{"prepare: it could not be changed a moment ago", delegated.Prepare, Sight{Job: &held, Nodes: two}, Memory{Frozen: now}, Prepare, delegated.Waiting, true},
		{"prepare: it cannot be changed", delegated.Prepare, Sight{Job: &held, Nodes: two}, Memory{Frozen: now, Stiff: true}, End, delegated.Waiting, false},
		{"prepare: it runs", delegated.Prepare, Sight{Job: &runs, Nodes: two}, Memory{}, End, delegated.Running, false},

		{"wait: parked", delegated.Wait, Sight{Job: &parked}, Memory{}, Nothing, delegated.Waiting, false},
		{"prepare: parked", delegated.Prepare, Sight{Job: &parked, Nodes: two}, Memory{}, Prepare, delegated.Waiting, true},
		{"start: prepared", delegated.Start, Sight{Job: &held, Reservation: reserved(two)}, ready, Start, delegated.Prepared, true},
		{"start: prepared by the sidecar before", delegated.Start, Sight{Job: &held, Reservation: reserved(two)}, Memory{}, Start, delegated.Prepared, true},
		{"start: its reservation is gone", delegated.Start, Sight{Job: &held}, ready, Nothing, delegated.Refused, false},
		{"start: its reservation is another", delegated.Start, Sight{Job: &held, Reservation: reserved(other)}, ready, Nothing, delegated.Waiting, false},
		{"start: released", delegated.Start, Sight{Job: &released, Reservation: reserved(two)}, ready, Nothing, delegated.Starting, true},
		{"start: released without its reservation", delegated.Start, Sight{Job: &loose, Reservation: reserved(two)}, ready, Hold, delegated.Prepared, true},
		{"start: it runs, tied", delegated.Start, Sight{Job: &tied, Reservation: reserved(two)}, ready, Detach, delegated.Running, true},
		{"start: it runs", delegated.Start, Sight{Job: &runs, Reservation: reserved(two)}, ready, Nothing, delegated.Running, false},
		{"start: it runs elsewhere", delegated.Start, Sight{Job: &runs}, Memory{Prepared: 3, Nodes: other}, End, delegated.Running, false},
		{"start: it is gone", delegated.Start, Sight{Gone: true}, ready, Nothing, delegated.Over, false},

		{"run", delegated.Run, Sight{Job: &runs}, ready, Nothing, delegated.Running, false},
		{"run: it waits again", delegated.Run, Sight{Job: &loose}, ready, End, delegated.Starting, false},
		{"run: it waits again, and cannot be changed", delegated.Run, Sight{Job: &loose}, Memory{Frozen: now, Stiff: true}, End, delegated.Starting, false},
		{"run: it is gone", delegated.Run, Sight{Gone: true}, Memory{Ran: two, Gone: runs.Key}, Ask, delegated.Running, false},
		{"run: it is gone, and nobody knows how", delegated.Run, Sight{Gone: true}, Memory{Ran: two, Ended: now}, Nothing, delegated.Over, false},
		{"run: it ends", delegated.Run, Sight{Gone: true, Ends: true}, Memory{Ran: two, Ended: now, Gone: runs.Key}, Nothing, delegated.Running, false},
		{"run: it ends, and failed", delegated.Run, Sight{Gone: true, Ends: true}, Memory{Ran: two, Failed: true, Gone: runs.Key}, Nothing, delegated.Over, false},
		{"ghost: it is gone", delegated.Ghost, Sight{Gone: true}, Memory{Ran: two, Gone: runs.Key}, Ask, delegated.Running, false},
		{"drop: held", delegated.Drop, Sight{Job: &held}, ready, Nothing, delegated.Waiting, false},
		{"drop: held, reserved", delegated.Drop, Sight{Job: &held, Reservation: reserved(two)}, ready, Nothing, delegated.Prepared, false},
		{"drop: released", delegated.Drop, Sight{Job: &released, Reservation: reserved(two)}, ready, Hold, delegated.Starting, false},
		{"drop: its release may still come", delegated.Drop, Sight{Job: &tying, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, Nothing, delegated.Starting, true},
		{"drop: its release may still come, again", delegated.Drop, Sight{Job: &released, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, Nothing, delegated.Starting, true},
		{"drop: the release of a job of the batch system's own may still come", delegated.Drop, Sight{Job: &made7, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, End, delegated.Prepared, true},
		{"drop: its release came", delegated.Drop, Sight{Job: &tied, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, End, delegated.Running, false},
		{"drop: its release comes no more", delegated.Drop, Sight{Job: &tying, Reservation: reserved(two)}, ready, Hold, delegated.Starting, false},
		{"wait: its release may still come", delegated.Wait, Sight{Job: &tying, Reservation: reserved(two)}, Memory{Unsure: true}, Nothing, delegated.Waiting, true},
		{"end: its release may still come", delegated.End, Sight{Job: &tying, Reservation: reserved(two)}, Memory{Unsure: true}, End, delegated.Waiting, false},
		{"drop: it runs", delegated.Drop, Sight{Job: &runs}, ready, End, delegated.Running, false},
		{"end: it waits", delegated.End, Sight{Job: &held}, ready, End, delegated.Waiting, false},
		{"end: it runs", delegated.End, Sight{Job: &runs}, ready, End, delegated.Running, false},
		{"end: it is over", delegated.End, Sight{Gone: true}, ready, Nothing, delegated.Over, false},
		{"ghost: it runs", delegated.Ghost, Sight{Job: &runs}, ready, Nothing, delegated.Running, false},
		{"ghost: it waits again", delegated.Ghost, Sight{Job: &held}, Memory{}, End, delegated.Starting, false},
		{"ghost: kept, and it runs", delegated.Ghost, Sight{Job: &runs, Ghost: reserved(two)}, Memory{}, Nothing, delegated.Ghosted, false},
		{"ghost: kept, and it is gone", delegated.Ghost, Sight{Gone: true, Ghost: reserved(two)}, Memory{Ran: two}, Nothing, delegated.Over, false},
		{"ghost: nobody knows where it ran", delegated.Ghost, Sight{Gone: true}, Memory{}, Nothing, delegated.Over, false},
	} {
		c.sight.Now = now
		o := delegated.Order{Application: 7, Job: 5, Want: c.want, Try: 3, Hosts: 2, Until: now + 5, Why: "for its user"}
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
		want delegated.Want
		know Memory
		says string
	}{
		{"it ended by itself", delegated.Drop, Memory{Ended: now}, ""},
		{"nobody saw it", delegated.Drop, Memory{}, "there is no such job"},
		{"its try was refused", delegated.Drop, Memory{Refused: 3, Why: "no nodes"}, "no nodes"},
		{"its try before was refused", delegated.Drop, Memory{Refused: 2, Why: "no nodes", Ended: now}, ""},
		{"it could not be changed", delegated.Drop, Memory{Stiff: true}, stiff},
		{"it could not be changed, which was found in this try", delegated.Drop, Memory{Refused: 3, Why: "shaping: not now", Stiff: true}, stiff},
		{"it could not be untied from its reservation while it ran", delegated.Run, Memory{Ran: two, Ended: now, Failed: true, Frozen: now, Stiff: true}, ""},
	} {
		o := delegated.Order{Application: 7, Job: 5, Want: c.want, Try: 3, Hosts: 2}
		if got := Next(o, Sight{Gone: true, Now: now}, c.know); got.Stand != delegated.Over || got.Note != c.says {
			t.Errorf("%s: %s, %q; want over, %q", c.name, stands[got.Stand], got.Note, c.says)
		}
	}
}

func TestNextOfAJobThatTheBatchSystemMakes(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  delegated.Want
		sight Sight
		know  Memory
		verb  Verb
		stand delegated.Stand
	}{
		{"wait: there is none", delegated.Wait, Sight{Gone: true}, Memory{}, Nothing, delegated.Waiting},
		{"prepare: there is none", delegated.Prepare, Sight{Gone: true, Nodes: two}, Memory{}, Prepare, delegated.Waiting},
		{"prepare: made", delegated.Prepare, Sight{Job: &made7, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two}, Nothing, delegated.Prepared},
		{"prepare: refused", delegated.Prepare, Sight{Job: &made7}, Memory{Refused: 3}, End, delegated.Waiting},
		{"drop: made", delegated.Drop, Sight{Job: &made7}, Memory{}, End, delegated.Prepared},
		{"drop: ended", delegated.Drop, Sight{Gone: true}, Memory{}, Nothing, delegated.Waiting},
		{"start: ended", delegated.Start, Sight{Gone: true}, Memory{Prepared: 3}, Nothing, delegated.Over},
	} {
		got := Next(delegated.Order{Application: 7, Want: c.want, Try: 3, Hosts: 2, Why: "for its user"}, c.sight, c.know)
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
		if got := Next(delegated.Order{Application: 7, Job: 5, Want: delegated.Ghost, Until: now + 5}, c.sight, c.know); !slices.Equal(got.Ghost, c.want) {
			t.Errorf("%s: kept are %v, want %v", name, got.Ghost, c.want)
		}
	}
}
