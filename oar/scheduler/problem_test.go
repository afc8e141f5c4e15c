package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/core"
	"accordion/core/sched"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/planner"
)

func TestTypesThatWouldBeMisunderstoodAreRefused(t *testing.T) {
	for _, types := range [][]string{
		{"container"}, {"inner=12"}, {"timesharing"}, {"timesharing=user,name"}, {"placeholder=x"}, {"allowed=x"},
		{"state=permissive"}, {"ep=2x10s"}, {"deploy", "container"}, {"postpone=soon"}, {"deadline=2026-13-01 00:00:00"},
	} {
		if _, err := ReadTypes(types); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want a line with the reason", types, err)
		}
	}
	k, err := ReadTypes([]string{"deploy", "noop", "besteffort", "postpone=2026-11-22 03:00:00", "deadline=2026-11-22 04:00:00"})
	at := time.Date(2026, 11, 22, 3, 0, 0, 0, time.Local).Unix()
	if want := (Kinds{besteffort: true, Postpone: at, deadline: at + 3600}); err != nil || k != want {
		t.Errorf("%+v, %v; want %+v", k, err, want)
	}
	for text, want := range map[string]core.Time{"2026-11-22": at - 3*3600, "2026-11-22 03:00": at, "2026-11-22   03:00:01": at + 1} { // OAR's rule 16 accepts these forms
		if k, err := ReadTypes([]string{"postpone=" + text}); err != nil || k.Postpone != want {
			t.Errorf("postpone=%s is second %d (%v), want %d", text, k.Postpone, err, want)
		}
	}
}

// OAR's columns are 32-bit integers: PostgreSQL would refuse the whole statement for one larger value.
func TestAStartForWhichOARHasNoRoomIsNotWritten(t *testing.T) {
	late := request(1, 60, level{"network_address", 1})
	late.types = []string{"postpone=9999-12-31 23:59:59"}
	tr := cluster(late, request(2, 60, level{"network_address", 1}))
	p, err := tr.translate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	o := decided(tr.state, p, p.plan(tr.now, func() bool { return false }))
	if len(o.starts) != 1 || o.starts[0].moldable != 102 {
		t.Errorf("planned are %v, want job 2 alone", o.starts)
	}
	if len(o.messages) != 1 || o.messages[0].job != 1 || !strings.Contains(o.messages[0].text, afterLatest) {
		t.Errorf("the messages are %v, want for job 1 %s", o.messages, afterLatest)
	}
}

func FuzzATypeIsReadOrRefusedInOneLine(f *testing.F) {
	f.Add("postpone=2026-11-22 03:00:00")
	f.Add("deadline=\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ReadTypes([]string{text}); err != nil && (strings.Contains(database.OneLine(err), "\n") || len(database.OneLine(err)) > 300) {
			t.Errorf("%q is refused with %q", text, database.OneLine(err))
		}
		if got := message("R=1", text); len([]rune(got)) > database.MessageSize {
			t.Errorf("a message of %d characters", len([]rune(got)))
		}
	})
}

func TestAMessageSaysWhyAJobIsNotPlanned(t *testing.T) {
	for _, test := range []struct{ now, why, want string }{
		{"R=2,W=0:1:0", "", "R=2,W=0:1:0"},
		{"R=2,W=0:1:0", "too big", "R=2,W=0:1:0 (Accordion: too big)"},
		{"R=2,W=0:1:0 (Accordion: too big)", "too long", "R=2,W=0:1:0 (Accordion: too long)"},
		{"R=2,W=0:1:0 (Accordion: too big)", "", "R=2,W=0:1:0"},
	} {
		if got := message(test.now, test.why); got != test.want {
			t.Errorf("%q with %q is %q, want %q", test.now, test.why, got, test.want)
		}
	}
	if got := message(strings.Repeat("é", 250), strings.Repeat("why ", 20)); len([]rune(got)) != database.MessageSize || !strings.HasSuffix(got, ")") {
		t.Errorf("a long message has %d characters: %s", len([]rune(got)), got)
	}
}

// cluster returns a cluster of three hosts with two cores each. One core of the last host is not Alive. The properties of the requests can
// be evaluated without a database.
func cluster(jobs ...*waiting) *translator {
	s := &state{levels: []string{"network_address"}, waiting: jobs}
	e := newEligibility(nil, time.Second, func() bool { return false })
	everything := eligible{}
	for id := int64(1); id <= 6; id++ {
		host := []string{"n1", "n2", "n3"}[(id-1)/2]
		s.resources = append(s.resources, resource{id: 10 * id, alive: id != 6, values: []string{host}})
		everything.resources = append(everything.resources, 10*id)
	}
	e.found["(1 = 1) AND (type = 'default')"] = everything
	return &translator{conf: conf.Conf{SecurityTime: 5, Besteffort: 300}, planner: sched.Repeated{}, now: 1000, state: s, eligible: e}
}

func request(id int64, walltime core.Time, levels ...level) *waiting {
	return &waiting{id: id, user: "alice", choices: []*choice{{id: 100 + id, walltime: walltime, groups: []*group{{properties: "type = 'default'", levels: levels}}}}}
}

func TestAPassPlansInOARsNumbers(t *testing.T) {
	tr := cluster(request(1, 60, level{"network_address", 2}), request(2, 60, level{"network_address", 1}, level{"resource_id", 1}), request(3, 60, level{"rack", 1}))
	tr.state.claims = []claim{{job: 9, from: 900, walltime: 200, resources: []int64{10}}}
	p, err := tr.translate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan := p.plan(tr.now, func() bool { return false })
	if err := planner.Check(p.usable, tr.now, p.claims, p.jobs, plan); err != nil {
		t.Fatal(err)
	}
	o := decided(tr.state, p, plan)
	want := []start{ // in the order of their starts
		{moldable: 102, at: 1000, resources: []int64{20}},
		{moldable: 101, at: 1105, resources: []int64{10, 20, 30, 40}}, // n3 lacks a core, and n1 is claimed until 1100 plus the pause of 5 s
	}
	if len(o.starts) != len(want) {
		t.Fatalf("%+v, want %+v", o.starts, want)
	}
	for i, w := range want {
		if got := o.starts[i]; got.moldable != w.moldable || got.at != w.at || !slices.Equal(got.resources, w.resources) {
			t.Errorf("%+v, want %+v", got, w)
		}
	}
	if want := []jobMessage{{3, ` (Accordion: "rack" is not a property of resources)`}}; !slices.Equal(o.messages, want) {
		t.Errorf("the messages are %v", o.messages)
	}
}

func TestOnlyTooLargeRequestsAreRefused(t *testing.T) {
	refused := map[string]*waiting{
		"a walltime of 0":      request(1, 0, level{"network_address", 1}),
		"no number of hosts":   request(1, 60, level{"network_address", 0}),
		"an unknown number":    request(1, 60, level{"network_address", -4}),
		"no resources":         {id: 1, user: "alice"},
		"a type":               {id: 1, user: "alice", types: []string{"container"}, choices: request(1, 60, level{"network_address", 1}).choices},
		"a job that vanished":  {id: 1, user: "alice", after: []dependency{{77, "Waiting"}}, choices: request(1, 60, level{"network_address", 1}).choices},
		"an expired job":       {id: 1, user: "alice", types: []string{"expire=2001-01-01 00:00:00"}, choices: request(1, 60, level{"network_address", 1}).choices},
		"a century's walltime": request(1, 1<<40, level{"network_address", 1}),
	}
	for name, w := range refused {
		tr := cluster(w, request(2, 60, level{"network_address", 1}))
		if name == "an expired job" {
			tr.now = 1 << 31
		}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if why := p.refuse[1]; why == "" || strings.Contains(why, "\n") {
			t.Errorf("%s: refused with %q, want a line", name, why)
		}
		if len(p.jobs) != 1 || p.jobs[0].ID != 2 {
			t.Errorf("%s: the other job is not planned: %+v", name, p.jobs)
		}
	}
}

// User mallory submits much slow SQL, before all other users submit theirs.
func TestSlowRequestsDoNotUseTheTimeOfUsualOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, asked := time.Now(), []string{}
		e := newEligibility(func(_ context.Context, text string, patience time.Duration) ([]int64, error) {
			asked = append(asked, text)
			if strings.Contains(text, "slow") {
				time.Sleep(patience)
				return nil, database.ErrSlow
			}
			time.Sleep(time.Millisecond)
			return []int64{1}, nil
		}, time.Second, func() bool { return time.Since(begin) > 1500*time.Millisecond })
		var wishes []wish
		for i := range 5 {
			wishes = append(wishes, wish{"mallory", "slow" + strings.Repeat(" ", i)})
		}
		wishes = append(wishes, wish{"eve", "slow eve"}, wish{"trent", "slow trent"}, wish{"alice", "usual"}, wish{"bob", "usual"}, wish{"carol", "rare"})
		e.all(t.Context(), wishes)
		slow := database.ErrSlow
		for i, want := range []error{slow, slow, slow, slow, slow, slow, errOver, nil, nil, errOver} {
			if _, err := e.of(t.Context(), wishes[i]); !errors.Is(err, want) {
				t.Errorf("%v: %v, want %v", wishes[i], err, want)
			}
		}
		if len(asked) != 3 {
			t.Errorf("the database was asked %d times, want 3: once for the usual requests, and twice without result: %q", len(asked), asked)
		}
	})
}

// asks runs passes at the given seconds. Each pass has 2.5 s for the SQL of users. asks returns, for each pass, the
// users whose texts were all evaluated.
func asks(t *testing.T, wishes []wish, takes func(text string) time.Duration, seconds ...core.Time) string {
	t.Helper()
	budget, lines := Budget{}, []string{}
	for _, second := range seconds {
		begin := time.Now()
		e := newEligibility(func(_ context.Context, text string, patience time.Duration) ([]int64, error) {
			time.Sleep(min(takes(text), patience))
			if takes(text) > patience {
				return nil, database.ErrSlow
			}
			return []int64{1}, nil
		}, time.Second, func() bool { return time.Since(begin) > 2500*time.Millisecond })
		e.now = second
		for _, row := range budget.lasting(second) { // as the table stores it
			e.budget[row.User] = row
		}
		e.all(t.Context(), wishes)
		answered := map[string]bool{}
		for _, one := range wishes {
			_, err := e.of(t.Context(), one)
			before, known := answered[one.user]
			answered[one.user] = err == nil && (before || !known)
		}
		var users []string
		for _, user := range slices.Sorted(maps.Keys(answered)) {
			if answered[user] {
				users = append(users, user)
			}
		}
		lines = append(lines, fmt.Sprintf("%d: %s, %v", second, strings.Join(users, " "), time.Since(begin).Round(100*time.Millisecond)))
		budget = e.budget
	}
	return strings.Join(lines, "\n")
}

func TestTextsOfAUserHaveABudgetThatIsRemembered(t *testing.T) {
	var crowd []wish
	for i := range 8 {
		crowd = append(crowd, wish{"mallory", fmt.Sprint("slow ", i)})
	}
	quick := []wish{{"alice", "quick a"}, {"bob", "quick b"}, {"carol", "quick a"}}
	var five []wish
	for i := range 5 {
		five = append(five, wish{fmt.Sprint("eve", i), fmt.Sprint("slow ", i)})
	}
	slow := func(each time.Duration) func(string) time.Duration {
		return func(text string) time.Duration {
			if strings.HasPrefix(text, "slow") {
				return each
			}
			return time.Millisecond
		}
	}
	for _, c := range []struct {
		name    string
		wishes  []wish
		takes   func(string) time.Duration
		seconds []core.Time
		want    string
	}{
		{"one user with eight slow texts", slices.Concat(crowd, quick), slow(400 * time.Millisecond), []core.Time{100, 105, 110, 115, 130},
			"100: alice bob carol, 2s\n105: alice bob carol, 800ms\n110: alice bob carol, 400ms\n115: alice bob carol, 400ms\n130: alice bob carol, 1.6s"},
		{"one whose texts are ended", slices.Concat(crowd, quick), slow(time.Minute), []core.Time{100, 101, 102, 103, 120},
			"100: alice bob carol, 1s\n101: alice bob carol, 1s\n102: alice bob carol, 1s\n103: alice bob carol, 0s\n120: alice bob carol, 1s"},
		{"five users with one each", slices.Concat(five, quick), slow(time.Minute), []core.Time{100, 101, 102, 103, 104, 105, 106},
			"100: alice carol, 3s\n101: alice bob carol, 3s\n102: alice bob carol, 3s\n103: alice bob carol, 3s\n104: alice bob carol, 3s\n105: alice bob carol, 0s\n106: alice bob carol, 0s"},
		{"nobody", quick, slow(0), []core.Time{100, 101}, "100: alice bob carol, 0s\n101: alice bob carol, 0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := asks(t, c.wishes, c.takes, c.seconds...); got != c.want {
				t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
			}
		})
	}
}

// The SQL of a job that does not start now is not evaluated, unless another job has the same SQL.
func TestKnownAndLaterRequestsAreNotQueried(t *testing.T) {
	postponed, usual := request(1, 60, level{"network_address", 1}), request(2, 60, level{"network_address", 1})
	postponed.types, postponed.properties = []string{"postpone=2199-01-01 00:00:00"}, "upper(cluster) = 'A'"
	usual.properties = "(cluster = 'a') AND cores >= 2"
	same, refused := request(3, 60, level{"network_address", 1}), request(4, 60, level{"network_address", 1})
	same.types, same.properties = postponed.types, "length(cluster) = 1"
	refused.types, refused.properties = []string{"container"}, "pg_sleep(1) is null"
	now := request(5, 60, level{"network_address", 1})
	now.properties = same.properties
	tr := cluster(postponed, usual, same, refused, now)
	var asked []string
	tr.eligible.ask = func(_ context.Context, text string, _ time.Duration) ([]int64, error) {
		asked = append(asked, text)
		return []int64{10, 20}, nil
	}
	s := tr.state
	s.levels, s.kinds = []string{"network_address", "cluster", "cores", "type"}, map[string]columnKind{"cluster": textColumn, "cores": numberColumn, "type": textColumn}
	for i := range s.resources {
		s.resources[i].values = append(s.resources[i].values, []string{"a", "b"}[i/4], fmt.Sprint(i), "default")
	}
	s.readConditions()
	p, err := tr.translate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"(length(cluster) = 1) AND (type = 'default')"}; !slices.Equal(asked, want) {
		t.Errorf("the database was asked for %q, want %q", asked, want)
	}
	if got, want := p.refuse[1], "its properties: they are looked for when it may begin"; got != want {
		t.Errorf("the postponed job's message is %q, want %q", got, want)
	}
	var planned []int64
	for _, j := range p.jobs {
		planned = append(planned, j.ID)
	}
	if want := []int64{2, 3, 5}; !slices.Equal(planned, want) {
		t.Errorf("jobs %v are planned, want %v", planned, want)
	}
	if set, known := tr.knownResources(wishOf(usual, usual.choices[0].groups[0]).text); !known || set.Len() != 2 || !set.Has(2) || !set.Has(3) {
		t.Errorf("what the usual job wants are %v (%t), want the third and the fourth", set, known)
	}
}

func TestPairInsertIsOneStatement(t *testing.T) {
	p := database.PairInsert{Into: "t (a, b)"}
	p.Add(1, -2)
	p.Add(3, 4)
	if got, want := string(p.Text), "INSERT INTO t (a, b) VALUES (1,-2),(3,4)"; got != want || p.Rows != 2 {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestADependencyIsKept(t *testing.T) {
	for _, test := range []struct {
		name  string
		after dependency
		start core.Time
	}{
		{"on a job that is over", dependency{50, "Terminated"}, 1000},
		{"on a job that failed", dependency{50, "Error"}, 1000},
		{"on a job that runs", dependency{9, "Running"}, 1110},
		{"on a job that waits before it", dependency{1, "Waiting"}, 1075},
	} {
		second := request(2, 60, level{"resource_id", 1})
		second.after = []dependency{test.after}
		tr := cluster(request(1, 60, level{"network_address", 1}), second)
		tr.state.claims = []claim{{job: 9, from: 900, walltime: 200, resources: []int64{60}}}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		plan := p.plan(tr.now, func() bool { return false })
		if got := plan[1]; got.Start != test.start || got.Why != "" {
			t.Errorf("%s: it starts at %d (%s), want %d", test.name, got.Start, got.Why, test.start)
		}
	}
}

func TestAProfileIsATypeOfItsOwn(t *testing.T) {
	for text, want := range map[string]bool{"ep=2x20s": true, "ep1=2x20s": true, " ep = 2x20s": true, "ep": true, "epoch=7": false, "deploy": false, "step=1": false, "ep1x=2": false} {
		if got := isProfile(text); got != want {
			t.Errorf("%q is a profile: %t", text, got)
		}
		if got := isSidecarType(text); got != want {
			t.Errorf("%q is for the sidecar to start: %t", text, got)
		}
	}
	for text, want := range map[string]bool{"launch=7": true, " launch = 7": true, "launch": true, "launch=": true, "launcher=7": false, "relaunch=7": false} {
		if got := isSidecarType(text); got != want || isProfile(text) {
			t.Errorf("%q is for the sidecar to start: %t; a profile: %t", text, got, isProfile(text))
		}
	}
}
