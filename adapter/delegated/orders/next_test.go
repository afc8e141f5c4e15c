package orders

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
)

const now core.Time = 1000

var (
	held     = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Held: true, Mark: "accordion:launch=7", Comment: "launch=7"}
	parked   = adapter.Job{Key: adapter.Key{ID: 5}, State: adapter.Pending, Held: true, Mark: "accordion:launch=7", Comment: "launch=7", Reservation: "accordion-park"} // held as package slurm holds jobs, by a reservation in the far future
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

func TestNextStepOfEachOrder(t *testing.T) {
	ready := Memory{Prepared: 3, Nodes: two}
	for _, c := range []struct {
		name  string
		want  mailbox.Want
		sight Observation
		know  Memory
		verb  Verb
		stand mailbox.Stand
		keep  bool
	}{
		{"not read yet", mailbox.Start, Observation{}, Memory{}, Nothing, mailbox.Waiting, true},
		{"wait: held by its user", mailbox.Wait, Observation{Job: &theirs}, Memory{}, Adopt, mailbox.Waiting, false},
		{"wait: held", mailbox.Wait, Observation{Job: &held}, Memory{}, Nothing, mailbox.Waiting, false},
		{"wait: released by somebody", mailbox.Wait, Observation{Job: &loose}, Memory{}, Hold, mailbox.Waiting, false},
		{"wait: it runs", mailbox.Wait, Observation{Job: &runs}, Memory{}, End, mailbox.Running, false},
		{"wait: it is gone", mailbox.Wait, Observation{Gone: true}, Memory{}, Nothing, mailbox.Over, false},
		{"wait: it cannot be changed", mailbox.Wait, Observation{Job: &held}, Memory{Frozen: now, Stiff: true}, End, mailbox.Waiting, false},
		{"wait: it could not be changed, and is gone", mailbox.Wait, Observation{Gone: true}, Memory{Frozen: now, Stiff: true}, Nothing, mailbox.Over, false},

		{"prepare: not adopted", mailbox.Prepare, Observation{Job: &theirs, Nodes: two}, Memory{}, Adopt, mailbox.Waiting, false},
		{"prepare: nodes", mailbox.Prepare, Observation{Job: &held, Nodes: two}, Memory{}, Prepare, mailbox.Waiting, true},
		{"prepare: still released from the try before", mailbox.Prepare, Observation{Job: &released, Nodes: two}, Memory{}, Hold, mailbox.Waiting, false},
		{"prepare: no nodes", mailbox.Prepare, Observation{Job: &held, Why: "nodes of ordinary job 2"}, Memory{}, Nothing, mailbox.Refused, false},
		{"prepare: no nodes, and a reservation ahead", mailbox.Prepare, Observation{Job: &held, Reservation: reserved(two)}, Memory{}, Nothing, mailbox.Waiting, false},
		{"prepare: done", mailbox.Prepare, Observation{Job: &held, Reservation: reserved(two)}, ready, Nothing, mailbox.Prepared, true},
		{"prepare: done, and its reservation went by itself", mailbox.Prepare, Observation{Job: &held}, ready, Nothing, mailbox.Refused, false},
		{"prepare: done in the try before", mailbox.Prepare, Observation{Job: &held, Reservation: reserved(two), Nodes: other}, Memory{Prepared: 2, Nodes: two}, Prepare, mailbox.Waiting, true},
		{"prepare: refused before", mailbox.Prepare, Observation{Job: &held, Nodes: two}, Memory{Refused: 3}, Nothing, mailbox.Refused, false},
		{"prepare: refused, not yet clean", mailbox.Prepare, Observation{Job: &held, Reservation: reserved(two)}, Memory{Refused: 3}, Nothing, mailbox.Waiting, false},
		{"prepare: it could not be changed a moment ago", mailbox.Prepare, Observation{Job: &held, Nodes: two}, Memory{Frozen: now}, Prepare, mailbox.Waiting, true},
		{"prepare: it cannot be changed", mailbox.Prepare, Observation{Job: &held, Nodes: two}, Memory{Frozen: now, Stiff: true}, End, mailbox.Waiting, false},
		{"prepare: it runs", mailbox.Prepare, Observation{Job: &runs, Nodes: two}, Memory{}, End, mailbox.Running, false},

		{"wait: parked", mailbox.Wait, Observation{Job: &parked}, Memory{}, Nothing, mailbox.Waiting, false},
		{"prepare: parked", mailbox.Prepare, Observation{Job: &parked, Nodes: two}, Memory{}, Prepare, mailbox.Waiting, true},
		{"start: prepared", mailbox.Start, Observation{Job: &held, Reservation: reserved(two)}, ready, Start, mailbox.Prepared, true},
		{"start: prepared by the sidecar before", mailbox.Start, Observation{Job: &held, Reservation: reserved(two)}, Memory{}, Start, mailbox.Prepared, true},
		{"start: its reservation is gone", mailbox.Start, Observation{Job: &held}, ready, Nothing, mailbox.Refused, false},
		{"start: its reservation is another", mailbox.Start, Observation{Job: &held, Reservation: reserved(other)}, ready, Nothing, mailbox.Waiting, false},
		{"start: released", mailbox.Start, Observation{Job: &released, Reservation: reserved(two)}, ready, Nothing, mailbox.Starting, true},
		{"start: released without its reservation", mailbox.Start, Observation{Job: &loose, Reservation: reserved(two)}, ready, Hold, mailbox.Prepared, true},
		{"start: it runs, tied", mailbox.Start, Observation{Job: &tied, Reservation: reserved(two)}, ready, Detach, mailbox.Running, true},
		{"start: it runs", mailbox.Start, Observation{Job: &runs, Reservation: reserved(two)}, ready, Nothing, mailbox.Running, false},
		{"start: it runs elsewhere", mailbox.Start, Observation{Job: &runs}, Memory{Prepared: 3, Nodes: other}, End, mailbox.Running, false},
		{"start: it is gone", mailbox.Start, Observation{Gone: true}, ready, Nothing, mailbox.Over, false},

		{"run", mailbox.Run, Observation{Job: &runs}, ready, Nothing, mailbox.Running, false},
		{"run: it waits again", mailbox.Run, Observation{Job: &loose}, ready, End, mailbox.Starting, false},
		{"run: it waits again, and cannot be changed", mailbox.Run, Observation{Job: &loose}, Memory{Frozen: now, Stiff: true}, End, mailbox.Starting, false},
		{"run: it is gone", mailbox.Run, Observation{Gone: true}, Memory{Ran: two, Gone: runs.Key}, Ask, mailbox.Running, false},
		{"run: it is gone, and nobody knows how", mailbox.Run, Observation{Gone: true}, Memory{Ran: two, Ended: now}, Nothing, mailbox.Over, false},
		{"run: it ends", mailbox.Run, Observation{Gone: true, Ends: true}, Memory{Ran: two, Ended: now, Gone: runs.Key}, Nothing, mailbox.Running, false},
		{"run: it ends, and failed", mailbox.Run, Observation{Gone: true, Ends: true}, Memory{Ran: two, Failed: true, Gone: runs.Key}, Nothing, mailbox.Over, false},
		{"ghost: it is gone", mailbox.Ghost, Observation{Gone: true}, Memory{Ran: two, Gone: runs.Key}, Ask, mailbox.Running, false},
		{"drop: held", mailbox.Drop, Observation{Job: &held}, ready, Nothing, mailbox.Waiting, false},
		{"drop: held, reserved", mailbox.Drop, Observation{Job: &held, Reservation: reserved(two)}, ready, Nothing, mailbox.Prepared, false},
		{"drop: released", mailbox.Drop, Observation{Job: &released, Reservation: reserved(two)}, ready, Hold, mailbox.Starting, false},
		{"drop: its release may still come", mailbox.Drop, Observation{Job: &tying, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, Nothing, mailbox.Starting, true},
		{"drop: its release may still come, again", mailbox.Drop, Observation{Job: &released, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, Nothing, mailbox.Starting, true},
		{"drop: the release of a job of the batch system's own may still come", mailbox.Drop, Observation{Job: &made7, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, End, mailbox.Prepared, true},
		{"drop: its release came", mailbox.Drop, Observation{Job: &tied, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two, Unsure: true}, End, mailbox.Running, false},
		{"drop: its release comes no more", mailbox.Drop, Observation{Job: &tying, Reservation: reserved(two)}, ready, Hold, mailbox.Starting, false},
		{"wait: its release may still come", mailbox.Wait, Observation{Job: &tying, Reservation: reserved(two)}, Memory{Unsure: true}, Nothing, mailbox.Waiting, true},
		{"end: its release may still come", mailbox.End, Observation{Job: &tying, Reservation: reserved(two)}, Memory{Unsure: true}, End, mailbox.Waiting, false},
		{"drop: it runs", mailbox.Drop, Observation{Job: &runs}, ready, End, mailbox.Running, false},
		{"end: it waits", mailbox.End, Observation{Job: &held}, ready, End, mailbox.Waiting, false},
		{"end: it runs", mailbox.End, Observation{Job: &runs}, ready, End, mailbox.Running, false},
		{"end: it is over", mailbox.End, Observation{Gone: true}, ready, Nothing, mailbox.Over, false},
		{"ghost: it runs", mailbox.Ghost, Observation{Job: &runs}, ready, Nothing, mailbox.Running, false},
		{"ghost: it waits again", mailbox.Ghost, Observation{Job: &held}, Memory{}, End, mailbox.Starting, false},
		{"ghost: kept, and it runs", mailbox.Ghost, Observation{Job: &runs, Ghost: reserved(two)}, Memory{}, Nothing, mailbox.Ghosted, false},
		{"ghost: kept, and it is gone", mailbox.Ghost, Observation{Gone: true, Ghost: reserved(two)}, Memory{Ran: two}, Nothing, mailbox.Over, false},
		{"ghost: nobody knows where it ran", mailbox.Ghost, Observation{Gone: true}, Memory{}, Nothing, mailbox.Over, false},
	} {
		c.sight.Now = now
		o := mailbox.Order{Application: 7, Job: 5, Want: c.want, Try: 3, Hosts: 2, Until: now + 5, Why: "for its user"}
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

func TestStandingOfAnEndedJobHasTheReason(t *testing.T) {
	for _, c := range []struct {
		name string
		want mailbox.Want
		know Memory
		says string
	}{
		{"it ended by itself", mailbox.Drop, Memory{Ended: now}, ""},
		{"nobody saw it", mailbox.Drop, Memory{}, "there is no such job"},
		{"its try was refused", mailbox.Drop, Memory{Refused: 3, Why: "no nodes"}, "no nodes"},
		{"its try before was refused", mailbox.Drop, Memory{Refused: 2, Why: "no nodes", Ended: now}, ""},
		{"it could not be changed", mailbox.Drop, Memory{Stiff: true}, stiff},
		{"it could not be changed, which was found in this try", mailbox.Drop, Memory{Refused: 3, Why: "shaping: not now", Stiff: true}, stiff},
		{"it could not be untied from its reservation while it ran", mailbox.Run, Memory{Ran: two, Ended: now, Failed: true, Frozen: now, Stiff: true}, ""},
	} {
		o := mailbox.Order{Application: 7, Job: 5, Want: c.want, Try: 3, Hosts: 2}
		if got := Next(o, Observation{Gone: true, Now: now}, c.know); got.Stand != mailbox.Over || got.Note != c.says {
			t.Errorf("%s: %s, %q; want over, %q", c.name, stands[got.Stand], got.Note, c.says)
		}
	}
}

func TestNextStepForAJobMadeByTheBatchSystem(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  mailbox.Want
		sight Observation
		know  Memory
		verb  Verb
		stand mailbox.Stand
	}{
		{"wait: there is none", mailbox.Wait, Observation{Gone: true}, Memory{}, Nothing, mailbox.Waiting},
		{"prepare: there is none", mailbox.Prepare, Observation{Gone: true, Nodes: two}, Memory{}, Prepare, mailbox.Waiting},
		{"prepare: made", mailbox.Prepare, Observation{Job: &made7, Reservation: reserved(two)}, Memory{Prepared: 3, Nodes: two}, Nothing, mailbox.Prepared},
		{"prepare: refused", mailbox.Prepare, Observation{Job: &made7}, Memory{Refused: 3}, End, mailbox.Waiting},
		{"drop: made", mailbox.Drop, Observation{Job: &made7}, Memory{}, End, mailbox.Prepared},
		{"drop: ended", mailbox.Drop, Observation{Gone: true}, Memory{}, Nothing, mailbox.Waiting},
		{"start: ended", mailbox.Start, Observation{Gone: true}, Memory{Prepared: 3}, Nothing, mailbox.Over},
	} {
		got := Next(mailbox.Order{Application: 7, Want: c.want, Try: 3, Hosts: 2, Why: "for its user"}, c.sight, c.know)
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

func TestFailureIsRecognizedByTheBatchSystemsWord(t *testing.T) {
	for why, want := range map[string]bool{"COMPLETED": false, "": false, "None": false, "CANCELLED by 0": true, "FAILED": true, "NODE_FAIL": true, "Error": true, "Terminated": false} {
		if failed(why) != want {
			t.Errorf("%q: failed is %t", why, !want)
		}
	}
}

func TestGhostLastsAsLongAsItsOrder(t *testing.T) {
	for name, c := range map[string]struct {
		sight Observation
		know  Memory
		want  []string
	}{
		"it runs":                          {Observation{Job: &runs}, Memory{}, two},
		"it ran":                           {Observation{Gone: true}, Memory{Ran: two}, two},
		"it ran, before a restart":         {Observation{Gone: true, Ghost: reserved(two)}, Memory{}, two},
		"nobody knows where":               {Observation{Gone: true}, Memory{}, nil},
		"its time is over, and it runs on": {Observation{Job: &runs, Now: now + 5}, Memory{}, nil},
	} {
		if got := Next(mailbox.Order{Application: 7, Job: 5, Want: mailbox.Ghost, Until: now + 5}, c.sight, c.know); !slices.Equal(got.Ghost, c.want) {
			t.Errorf("%s: kept are %v, want %v", name, got.Ghost, c.want)
		}
	}
}
