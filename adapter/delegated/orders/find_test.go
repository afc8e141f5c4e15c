package orders

import (
	"context"
	"strconv"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/managed"
	"accordion/adapter/sidecar"
)

// ofUser returns an entry with an order for application 7 of the user.
func ofUser(name string) *entry { return &entry{order: mailbox.Order{Application: 7, User: name}} }

func TestAnotherUsersJobWithNumberAndMarkIsNoPart(t *testing.T) {
	jobs := []*adapter.Job{
		{Key: adapter.Key{ID: 5}, User: "eve", Comment: "launch=7", Mark: "accordion:launch=7", State: adapter.Pending},
		{Key: adapter.Key{ID: 6}, User: "eve", Mark: "accordion:launch=7", State: adapter.Pending}, // as if the batch system had made this job
	}
	for _, n := range []name{{7, 5}, {7, 0}} {
		if got := ofUser("ada").find(n, jobs); got != nil {
			t.Errorf("%+v of ada is %s's job %d", n, got.User, got.ID)
		}
		if got := ofUser("eve").find(n, jobs); got == nil {
			t.Errorf("%+v of eve is not found", n)
		}
	}
}

// reads passes readings to a Keeper. Each reading has one job. It returns the stand of application 7's part after each reading, and the
// user of the part in each state of the cluster.
func reads(t *testing.T, order mailbox.Order, readings []adapter.Job) (stands []mailbox.Stand, users []string) {
	t.Helper()
	epoch := managed.Epoch(1)
	k := New(mailbox.New(), sidecar.PartsHost{
		Clock: &set{time.Unix(int64(now), 0)}, Settings: managed.Settings{Deadline: 5 * time.Second},
		Epochs:   func() (managed.Epoch, managed.Epoch) { return epoch, epoch },
		Reserved: func(string) (adapter.Reservation, bool) { return adapter.Reservation{}, false },
	})
	k.mailbox.Order([]mailbox.Order{order})
	for _, j := range readings {
		epoch++
		k.Look(now, &adapter.Snapshot{Jobs: []adapter.Job{j}})
		e := k.parts[name{order.Application, order.Job}]
		stands = append(stands, Next(e.order, Observation{Job: e.job, Gone: e.job == nil}, e.memory).Stand)
		users = append(users, k.partJobs([]adapter.Job{j})[0].User)
	}
	return stands, users
}

// running returns job 5, which was submitted at second 900 and runs, with the given user name and user ID.
func running(user string, uid uint32) adapter.Job {
	j := runs
	j.Submitted, j.User, j.UID = 900, user, uid
	return j
}

func TestPartContinuesWhileTheDirectoryOfUsersIsDown(t *testing.T) {
	again := running("1001", 1001)
	again.Submitted = 950 // the job was requeued between the readings
	for _, c := range []struct {
		name      string
		submitted int64
		readings  []adapter.Job
	}{
		{"for two readings", 900, []adapter.Job{running("ada", 1001), running("1001", 1001), running("1001", 1001), running("ada", 1001)}},
		{"by an older Slurm", 900, []adapter.Job{running("ada", 1001), running("nobody", 1001), running("ada", 1001)}},
		{"and the job was submitted again", 900, []adapter.Job{running("ada", 1001), again}},
		{"since the sidecar began", 900, []adapter.Job{running("1001", 1001), running("1001", 1001), running("ada", 1001)}},
	} {
		stands, users := reads(t, mailbox.Order{Application: 7, Job: 5, Submitted: c.submitted, User: "ada", Want: mailbox.Run}, c.readings)
		for i := range stands {
			if stands[i] != mailbox.Running || users[i] != "ada" {
				t.Errorf("%s: in reading %d of user %s the part stands at %d, and is shown as %s's", c.name, i+1, c.readings[i].User, stands[i], users[i])
			}
		}
	}
}

func TestAnotherUsersJobIsNoPartWhileTheDirectoryOfUsersIsDown(t *testing.T) {
	for _, c := range []struct {
		name     string
		order    int64 // second of submission in the order
		readings []adapter.Job
	}{
		{"by its number of another user", 900, []adapter.Job{running("ada", 1001), running("1002", 1002)}},
		{"by its number of another user, by an older Slurm", 900, []adapter.Job{running("ada", 1001), running("nobody", 1002)}},
		{"of nobody", 900, []adapter.Job{running("nobody", 65534)}},
		{"submitted at another second", 800, []adapter.Job{running("1002", 1002)}},
		{"and nothing is known of the job", 0, []adapter.Job{running("1002", 1002)}},
		{"of another name and the same number", 900, []adapter.Job{running("ada", 1001), running("eve", 1001)}},
		{"of a name that is another user's number", 900, []adapter.Job{running("1001", 1002)}},
	} {
		stands, users := reads(t, mailbox.Order{Application: 7, Job: 5, Submitted: c.order, User: "ada", Want: mailbox.Wait}, c.readings)
		last := len(stands) - 1
		if stands[last] == mailbox.Running || users[last] != c.readings[last].User {
			t.Errorf("a job %s: the part stands at %d, and it is shown as %s's", c.name, stands[last], users[last])
		}
	}
}

// inspected is a batch system with one job.
type inspected struct {
	adapter.BatchSystem
	job adapter.Job
}

func (s inspected) Inspect(context.Context, adapter.Key) (*adapter.Job, error) { return &s.job, nil }

func TestUnseenPartHasEndedOnlyIfTheBatchSystemConfirmsIt(t *testing.T) {
	for _, c := range []struct {
		state adapter.State
		want  mailbox.Stand
	}{{adapter.Running, mailbox.Running}, {adapter.Pending, mailbox.Running}, {adapter.Ending, mailbox.Over}, {adapter.Done, mailbox.Over}} {
		k := New(mailbox.New(), sidecar.PartsHost{Acts: &actions.Caller{System: inspected{job: adapter.Job{State: c.state, Why: strconv.Quote(string(c.state))}}, Deadline: time.Second}})
		e := &entry{order: mailbox.Order{Application: 7, Job: 5, Want: mailbox.Run}, memory: Memory{Ended: now, Gone: adapter.Key{ID: 5, Submitted: 900}}}
		acts, done := k.ask(t.Context(), e)
		if err := acts(); err != nil {
			t.Fatal(err)
		}
		done()
		got := Next(e.order, Observation{Gone: true}, e.memory)
		if got.Stand != c.want || (c.want == mailbox.Over) != (e.memory.Ended == now) {
			t.Errorf("a job that is %s: its part stands at %d, want %d; seen to be over at %d", c.state, got.Stand, c.want, e.memory.Ended)
		}
	}
}

// The last call of a killed sidecar may be carried out late, and write the reservation of an earlier try, whose nodes other jobs have
// received meanwhile. The next sidecar does not remember which nodes were prepared, but the order names them.
func TestReservationOverOtherNodesThanOrderedStartsNothing(t *testing.T) {
	job := adapter.Job{Key: adapter.Key{ID: 5, Submitted: 900}, User: "ada", Mark: "accordion:launch=7", State: adapter.Pending, Held: true}
	for _, c := range []struct {
		reserved []string
		verb     Verb
		stand    mailbox.Stand
	}{
		{[]string{"n2", "n1"}, Start, mailbox.Prepared},
		{[]string{"n5", "n6"}, Nothing, mailbox.Waiting},
	} {
		e := &entry{order: mailbox.Order{Application: 7, Job: 5, Submitted: 900, User: "ada", Want: mailbox.Start, Try: 1, Hosts: 2, On: "n1 n2"}}
		e.recall()
		r := adapter.Reservation{Name: managed.PartReservation(7), Nodes: c.reserved}
		if step := Next(e.order, Observation{Job: &job, Reservation: &r}, e.memory); step.Verb != c.verb || step.Stand != c.stand {
			t.Errorf("with %v reserved: %+v, want verb %v, stand %v", c.reserved, step, c.verb, c.stand)
		}
	}
}
