package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/internal/lab"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/server"
	"accordion/oar/tables"
)

// insideLab is set in the process that TestActsOnOAR starts inside the lab, where OAR's database and server are.
const insideLab = "ACCORDION_TEST_INSIDE_OAR_LAB"

// trial is a test inside the lab.
type trial struct {
	name string
	test func(*inside)
}

// trials are the tests inside the lab. Each starts and ends with an OAR without jobs. The first forEveryDatabase of them use every function
// that depends on the database.
var trials = []trial{
	{"a job grows and shrinks", aJobGrowsAndShrinks},
	{"a companion is divided", aCompanionIsDivided},
	{"a job begins above its base", aJobBeginsAboveItsBase},
	{"a waiting job", aWaitingJob},
	{"a hold", aHold},
	{"a part of an application", aPartOfAnApplication},
	{"reservations", reservations},
	{"one reservation made twice at once", oneReservationMadeTwiceAtOnce},
	{"a reading that the database ends", aReadingThatTheDatabaseEnds},
	{"a history that the database ends", aHistoryThatTheDatabaseEnds},
	{"a transaction that is left alone", aTransactionThatIsLeftAlone},
	{"a first companion begins without a pass", aFirstCompanionBeginsWithoutAPass},
	{"a start is tried once more", aStartIsTriedOnceMore},
	{"a growth onto a besteffort job", aGrowthOntoABesteffortJob},
	{"texts of users take locks", textsOfUsersTakeLocks},
	{"a lock of ours", aLockOfOurs},
	{"what is seen", snapshotOfJobs},
	{"a pass begins while companions are launched", aPassBeginsWhileCompanionsAreLaunched},
	{"a job begins without a pass", aJobBeginsWithoutAPass},
	{"a holder never begins", aHolderNeverBegins},
	{"a job is made longer", aJobIsMadeLonger},
	{"growths that fail", growthsThatFail},
	{"what is left over", leftoverCompanions},
	{"a lost node", aLostNode},
	{"a lost node of a layer", aLostNodeOfALayer},
	{"a job is reached", aJobIsReached},
}

// longest is how long a trial may take on the slowest machine.
const longest = 10 * time.Minute

// forEveryDatabase is the number of trials, from the first one, that run with each database.
const forEveryDatabase = 17

// Every action of the sidecar on OAR is tested separately, on a real OAR.
func TestActsOnARealOAR(t *testing.T) {
	if os.Getenv(insideLab) != "" {
		t.Skip("needs lab: this is the part outside it")
	}
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for database, trials := range map[string][]trial{lab.PostgreSQL: trials, lab.MariaDB: trials[:forEveryDatabase]} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			lab := lab.OAR(t, 9, lab.Database(database), lab.Users("alice", "bob"))
			for _, one := range trials {
				t.Run(one.name, func(t *testing.T) {
					pattern := "-test.run=^TestInsideTheLab$/^" + strings.ReplaceAll(one.name, " ", "_") + "$"
					out, errs, err := lab.ExecWithin(longest, "root", "env", insideLab+"="+database, program, pattern, "-test.v", "-test.timeout=9m")
					t.Log(out)
					if err != nil || !strings.Contains(out, "--- PASS: TestInsideTheLab/") {
						t.Errorf("inside the lab: %v\n%s", err, errs)
					}
				})
			}
		})
	}
}

// inside has what a trial needs inside the lab.
type inside struct {
	testing.TB
	*System
	ctx context.Context
}

func TestInsideTheLab(t *testing.T) {
	for _, one := range trials {
		t.Run(one.name, func(t *testing.T) {
			in := enter(t)
			one.test(in)
			in.clean()
		})
	}
}

// enter connects to the lab's OAR. The first call installs Accordion's tables.
func enter(t testing.TB) *inside {
	t.Helper()
	if os.Getenv(insideLab) == "" {
		t.Skip("needs lab: this is the part inside it; TestActsOnARealOAR and benchmarks start it there")
	}
	conf, err := conf.Read(conf.DefaultFile)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	options := Options{Queue: "evolve", Timeout: 30 * time.Second}
	s, err := Open(ctx, conf, options)
	if err != nil {
		if !strings.Contains(err.Error(), "accordion oar install") {
			t.Fatalf("without Accordion's tables: %v", err)
		}
		db, err := database.Open(conf)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(tables.Tables{DB: db}.MakeTables(ctx), db.Close()); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(ctx, conf, options); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.Close)
	return &inside{TB: t, System: s, ctx: ctx}
}

// clean ends what a trial has left running, and checks that nothing of Accordion is left.
func (in *inside) clean() {
	in.Helper()
	snapshot, err := in.Observe(in.ctx)
	in.must(err)
	for _, id := range strings.Fields(in.answer("SELECT j.job_id FROM jobs j WHERE " + isLive + " AND j.job_id NOT IN (SELECT v.holder FROM accordion_reservations v)")) {
		in.must(in.db.Change(in.ctx, func(tx *sql.Tx) error { return in.db.Frag(in.ctx, tx, time.Now().Unix(), int64(number(in, id))) }))
	}
	in.server.Notify(server.Ends)
	in.quiet()
	for _, r := range snapshot.Reservations {
		if r.Ours() {
			in.must(in.Unreserve(in.ctx, r.Name))
		}
	}
	in.wait("0", func() string { // leftovers of companions that the sidecar did not end
		_, err := in.Observe(in.ctx)
		in.must(err)
		return in.answer("SELECT COUNT(*) FROM accordion_cpusets")
	})
	if left := in.answer("SELECT j.job_id, j.state, j.job_name FROM jobs j JOIN gantt_jobs_predictions p ON p.moldable_job_id = j.assigned_moldable_job WHERE " + isLive); left != "" {
		in.Errorf("jobs are left: %s", left)
	}
	// No resource was in two jobs at the same time in the whole history.
	if twice := in.answer(`select a.job_id, b.job_id, x.resource_id from jobs a join assigned_resources x on x.moldable_job_id = a.assigned_moldable_job
		join assigned_resources y on y.resource_id = x.resource_id join jobs b on b.assigned_moldable_job = y.moldable_job_id
		where a.job_id < b.job_id and a.start_time < b.stop_time and b.start_time < a.stop_time and a.queue_name <> 'besteffort' and b.queue_name <> 'besteffort'`); twice != "" {
		in.Errorf("two jobs were on a resource at once: %s", twice)
	}
}

// quiet waits until nothing is left of any job, except the jobs that show reservations.
func (in *inside) quiet() {
	in.Helper()
	in.wait("", func() string {
		return in.answer("SELECT j.job_id, j.state FROM jobs j WHERE " + isLive + " AND j.job_id NOT IN (SELECT v.holder FROM accordion_reservations v)")
	})
}

func (in *inside) must(err error) {
	in.Helper()
	if err != nil {
		in.Fatal(err)
	}
}

func (in *inside) mustBe(err, want error) {
	in.Helper()
	if !errors.Is(err, want) {
		in.Fatalf("%v, want %v", err, want)
	}
}

var submitted = regexp.MustCompile(`(?m)^OAR_JOB_ID=([0-9]+)$`)

// as runs a program as a user, in the user's home.
func (in *inside) as(name, program string, args ...string) string {
	in.Helper()
	out, err := in.attempt(name, program, args...)
	if err != nil {
		in.Fatalf("%s %v as %s: %v\n%s", program, args, name, err, out)
	}
	return out
}

// attempt runs a program as the user `name`, in the user's home. In contrast to the method `as`, it lets the program
// fail.
func (in *inside) attempt(name, program string, args ...string) (said string, err error) {
	in.Helper()
	u, err := user.Lookup(name)
	in.must(err)
	uid, gid := number(in, u.Uid), number(in, u.Gid)
	c := exec.CommandContext(in.ctx, program, args...)
	c.Dir = u.HomeDir
	c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + u.HomeDir, "USER=" + name, "LOGNAME=" + name, "PWD=" + u.HomeDir, "SHELL=/bin/bash"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	out, err := c.CombinedOutput()
	return string(out), err
}

func number(in *inside, text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	in.must(err)
	return uint32(n)
}

// Submit submits a job to the queue with oarsub. It writes the type of an evolving job directly into the database, without the admission
// rules.
func (in *inside) Submit(name, profile, command string, options ...string) adapter.Key {
	in.Helper()
	all := append([]string{"-q", "evolve"}, options...)
	if profile != "" {
		all = append(all, "--hold")
	}
	out := in.as(name, "oarsub", append(all, command)...)
	m := submitted.FindStringSubmatch(out)
	if m == nil {
		in.Fatalf("oarsub: %s", out)
	}
	key := adapter.Key{}
	id, err := strconv.ParseInt(m[1], 10, 64)
	in.must(err)
	key.ID = core.JobID(id)
	in.must(in.db.Sql.QueryRowContext(in.ctx, "SELECT submission_time FROM jobs WHERE job_id = "+m[1]).Scan(&key.Submitted))
	if profile != "" {
		in.exec(fmt.Sprintf("INSERT INTO job_types (job_id, type) VALUES (%d, 'ep=%s')", key.ID, profile))
		in.as(name, "oarresume", m[1])
		in.wait(database.StateWaiting, func() string { return in.answer("SELECT state FROM jobs WHERE job_id = " + m[1]) })
	}
	return key
}

func (in *inside) exec(query string) {
	in.Helper()
	_, err := in.db.Sql.ExecContext(in.ctx, query)
	in.must(err)
}

// answer returns the result of a query: fields are separated by |, rows by blanks.
func (in *inside) answer(query string) string {
	in.Helper()
	var all []string
	in.must(database.Rows(in.ctx, in.db.Sql, "an answer", query, nil, func(r *sql.Rows) error {
		columns, err := r.Columns()
		if err != nil {
			return err
		}
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err = r.Scan(into...)
		var fields []string
		for _, v := range values {
			fields = append(fields, v.String)
		}
		all = append(all, strings.Join(fields, "|"))
		return err
	}))
	return strings.Join(all, " ")
}

// shows returns how the sidecar sees a job: its state and its nodes.
func (in *inside) shows(job adapter.Key) string {
	in.Helper()
	j, err := in.Inspect(in.ctx, job)
	in.must(err)
	text := string(j.State)
	if j.State == adapter.Pending && j.Held {
		text += " held"
	}
	if len(j.Nodes) > 0 {
		text += " " + strings.Join(j.Nodes, ",")
	}
	return text
}

func (in *inside) until(job adapter.Key, want string) {
	in.Helper()
	in.wait(want, func() string { return in.shows(job) })
}

// wait waits until `look` returns the wanted text. Its deadline is half of the trial's time, which only a failing trial reaches.
func (in *inside) wait(want string, look func() string) {
	in.Helper()
	for end, got := time.Now().Add(longest/2), ""; ; time.Sleep(50 * time.Millisecond) { // OAR has no event to wait for
		if got = look(); got == want {
			return
		}
		if time.Now().After(end) {
			in.Fatalf("it is %q for %v, want %q", got, longest/2, want)
		}
	}
}

func (in *inside) reserve(name string, from, to core.Time, nodes ...string) {
	in.Helper()
	now := time.Now().Unix()
	in.must(in.Reserve(in.ctx, adapter.Reservation{Name: name, Nodes: nodes, Start: now + from, End: now + to, User: "alice"}))
}

// start starts an evolving job on nodes.
func (in *inside) start(job adapter.Key, limit core.Time, nodes ...string) {
	in.Helper()
	name := fmt.Sprintf("accordion-%d-0", job.ID)
	in.must(in.Adopt(in.ctx, job))
	in.reserve(name, 0, limit+200, nodes...)
	in.must(in.Shape(in.ctx, job, adapter.Shape{Nodes: len(nodes), Limit: limit}))
	in.must(in.Attach(in.ctx, job, name))
	in.must(in.Release(in.ctx, job))
	in.until(job, "running "+strings.Join(nodes, ","))
	in.must(in.Detach(in.ctx, job))
	in.must(in.Unreserve(in.ctx, name))
}
