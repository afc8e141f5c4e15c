package application

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core/moldable"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
)

// written returns acts as text, one line each.
func written(acts []Act) (all []string) {
	for _, a := range acts {
		switch a := a.(type) {
		case Send:
			all = append(all, "send "+a.Message.Type()+" "+strings.TrimPrefix(fmt.Sprintf("%+v", a.Message), "&"))
		case Ask:
			all = append(all, fmt.Sprintf("ask %d", a.Sight.View))
		case Submit:
			all = append(all, fmt.Sprintf("submit on %s for %d", a.Cluster, a.Application))
		case Print:
			all = append(all, "print "+a.Line)
		case Say:
			all = append(all, "say "+a.Line)
		case Work:
			all = append(all, fmt.Sprintf("work %v", a.Hosts))
		case Reconnect:
			all = append(all, "reconnect: "+a.Why.Error())
		case Exit:
			all = append(all, fmt.Sprintf("exit %d", a.Code))
		default:
			all = append(all, strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", a), "application.")))
		}
	}
	return all
}

// turn is an event, with the actions that should follow.
type turn struct {
	event Event
	want  []string
}

func play(t *testing.T, l *Launcher, turns ...turn) {
	t.Helper()
	for i, turn := range turns {
		if d := cmp.Diff(turn.want, written(l.Handle(turn.event))); d != "" {
			t.Fatalf("turn %d, %T %+v (-want +got):\n%s", i, turn.event, turn.event, d)
		}
	}
}

func hear(m launcher.Message, want ...string) turn { return turn{Heard{m}, want} }
func okay(m launcher.Message, want ...string) turn { return turn{Answered{To: m}, want} }
func refuse(m launcher.Message, r launcher.Refuse, want ...string) turn {
	return turn{Answered{m, &r}, want}
}
func answer(view, walltime int64, hosts []moldable.Part, want ...string) turn {
	return turn{Selected{selector.Said{View: view, Answer: selector.Answer{Hosts: hosts, Walltime: walltime}}}, want}
}

var both = &launcher.Clusters{All: []launcher.Cluster{
	{C: 0, Name: "a", Hosts: 8, Speed: 1},
	{C: 1, Name: "b", Hosts: 4, Speed: 2},
}}

// empty returns a whole view in which nothing is occupied.
func empty(view, now, estimate int64) *launcher.Change {
	return &launcher.Change{View: view, Now: now, Est: estimate, All: []launcher.ClusterChange{
		{C: 0, Kind: launcher.KindOccupation, From: now, Steps: []int64{now, 0}},
		{C: 1, Kind: launcher.KindOccupation, From: now, Steps: []int64{now, 0}},
	}}
}

func welcome() *launcher.Welcome { return &launcher.Welcome{Version: 2, App: 7, Tag: -1} }

// waitsForBoth returns a launcher with batch jobs on both clusters that has subscribed, and has received no view.
func waitsForBoth(t *testing.T) *Launcher {
	t.Helper()
	t.Setenv("TZ", "UTC")
	l := NewLauncher(Settings{Most: 7200, Places: []Place{{"a", true}, {"b", true}}})
	play(t, l,
		hear(welcome(), "print application 7", "send list {}"),
		hear(both, "submit on a for 7", "submit on b for 7"),
		turn{Submitted{Cluster: "b", Job: 22}, []string{"print job 22 on b"}},
		turn{Submitted{Cluster: "a", Job: 11}, []string{
			"print job 11 on a",
			"send subscribe {Filter:{MinHosts:0 HostMem:0 TotalMem:0 Scratch:0 Arch: Attrs:map[] Clusters:[a b]} Most:7200 Jobs:[{Cluster:a Job:11} {Cluster:b Job:22}]}",
		}},
		okay(&launcher.Subscribe{}),
		hear(both),
	)
	return l
}

var (
	onBoth = []moldable.Part{{Cluster: 0, Hosts: 4}, {Cluster: 1, Hosts: 2}}
	onA    = []moldable.Part{{Cluster: 0, Hosts: 8}}
)

const start7 = 1764104400 // 2025-11-25 21:00:00 UTC

func grant() *launcher.Start {
	return &launcher.Start{Tag: 0, At: start7, By: start7 + 3600, Hosts: []launcher.Names{{C: 0, Hosts: []string{"n1", "n2"}}, {C: 1, Hosts: []string{"m7"}}}}
}

func TestAnApplicationOfTwoPartsFromItsHelloToItsEnd(t *testing.T) {
	l := waitsForBoth(t)
	play(t, l,
		hear(empty(1, start7-100, 0), "ask 1"),
		answer(1, 3600, onBoth, "send request {View:1 Tag:0 Hosts:[{C:0 N:4} {C:1 N:2}] Walltime:3600}"),
		hear(empty(2, start7-90, start7), "say starts 2025-11-25 21:00:00, in 1m30s: 4 hosts of a, 2 hosts of b, for 1h", "ask 2"),
		answer(2, 3600, onBoth, "send ack {View:2}"),
		hear(empty(3, start7-80, start7), "ask 3"),
		answer(2, 60, onA), // an answer to an old view
		turn{Selected{selector.Said{View: 3, Answer: selector.Answer{Keep: true}}}, []string{"send ack {View:3}"}},
		hear(empty(4, start7-70, 0), "say when it starts is not known any more", "ask 4"),
		turn{Selected{selector.Said{View: 4, Err: errors.New("the model is lost")}}, []string{"say the model is lost: the last request stands", "send ack {View:4}"}},
		answer(4, 1800, onA, "send request {View:4 Tag:1 Hosts:[{C:0 N:8}] Walltime:1800}"), // late, but within the limit
		hear(grant(), "say started on a: 2 hosts, n[1-2]; b: 1 hosts, m7, until 2025-11-25 22:00:00"),
		refuse(&launcher.Request{Tag: 1}, launcher.Refuse{Code: launcher.CodeState, Tag: 0}),
		hear(&launcher.Go{At: start7}, "say all parts run"),
		hear(&launcher.Done{Code: 3}, "exit 3"),
	)
}

func TestLostJobIsSubmittedAgainOnce(t *testing.T) {
	l := waitsForBoth(t)
	lost := &launcher.Lost{C: 1, Job: 22, Why: "b1 did not start it"}
	again := "send parts {Jobs:[{Cluster:b Job:23}]}"
	parts := &launcher.Parts{Jobs: []launcher.Part{{Cluster: "b", Job: 23}}}
	play(t, l,
		hear(empty(1, start7, 0), "ask 1"),
		hear(grant(), "say started on a: 2 hosts, n[1-2]; b: 1 hosts, m7, until 2025-11-25 22:00:00"),
		hear(lost, "say job 22 on b is lost (b1 did not start it): it is submitted again", "submit on b for 7"),
		hear(lost),
		turn{Submitted{Cluster: "b", Job: 23}, []string{"print job 23 on b", again}},
		hear(welcome(), "say the sidecar is there again", again), // the launcher's Parts message is not answered yet
		hear(lost), // the launcher's Parts message is not answered yet
		okay(parts),
		hear(welcome(), "say the sidecar is there again"),
		refuse(parts, launcher.Refuse{Code: launcher.CodeJob, Text: "it is not yours"}, "say job 23 on b: refused: it is not yours", "send done {Code:1}", "expect"),
		okay(&launcher.Done{}, "exit 1"),
	)
}

func TestJobsAreReportedUntilTheSidecarAcceptsThem(t *testing.T) {
	l := waitsForBoth(t)
	play(t, l,
		hear(&launcher.Lost{C: 0, Job: 11, Why: "x"}, "say job 11 on a is lost (x): it is submitted again", "submit on a for 7"),
		hear(&launcher.Lost{C: 1, Job: 22, Why: "x"}, "say job 22 on b is lost (x): it is submitted again", "submit on b for 7"),
		turn{Submitted{Cluster: "b", Job: 23}, []string{"print job 23 on b", "send parts {Jobs:[{Cluster:b Job:23}]}"}},
		turn{Submitted{Cluster: "a", Job: 12}, []string{"print job 12 on a"}},
		okay(&launcher.Parts{Jobs: []launcher.Part{{Cluster: "b", Job: 23}}}, "send parts {Jobs:[{Cluster:a Job:12}]}"),
		refuse(&launcher.Parts{Jobs: []launcher.Part{{Cluster: "a", Job: 12}}}, launcher.Refuse{Code: launcher.CodeState}),
		hear(empty(1, start7, 0), "send parts {Jobs:[{Cluster:a Job:12}]}", "ask 1"),
		okay(&launcher.Parts{Jobs: []launcher.Part{{Cluster: "a", Job: 12}}}),
		hear(&launcher.Abort{Again: true, Why: "x"}, "say the start is given up: x"))
}

func TestTheUserLeaves(t *testing.T) {
	l := waitsForBoth(t)
	play(t, l,
		turn{Interrupted{}, []string{"say interrupted: the application is withdrawn, its jobs end", "send done {Code:130}", "expect"}},
		hear(empty(1, start7, 0)),
		hear(welcome(), "say the sidecar is there again", "send done {Code:130}"),
		turn{Expired{}, []string{"exit 130"}},
		turn{Interrupted{}, nil},
	)
	play(t, NewLauncher(Settings{}),
		turn{Interrupted{}, []string{"say interrupted: the application is withdrawn, its jobs end", "exit 130"}})
}

// inVain returns the turns of a launcher whose cluster never appears in the list.
func inVain(all *launcher.Clusters, gone []string, why string) []turn {
	why = "say " + why + ". A cluster that was not read yet is not seen: "
	turns := []turn{hear(all, why+"it is asked for again", "expect")}
	for range mostLooks - 1 {
		turns = append(turns, turn{Expired{}, []string{"send list {}"}}, hear(all, "expect"))
	}
	return append(turns, turn{Expired{}, []string{"send list {}"}}, hear(all, append([]string{why + "it was asked for during 30s"}, gone...)...))
}

func TestImpossibleApplicationIsReportedAndWithdrawn(t *testing.T) {
	gone := []string{"send done {Code:1}", "expect"}
	for name, c := range map[string]struct {
		places []Place
		turns  []turn
	}{
		"no such cluster": {[]Place{{"x", true}}, inVain(both, gone, "--on x: the sidecar sees no such cluster; it sees a, b")},
		"one of several": {[]Place{{"", true}}, []turn{
			hear(both, append([]string{"say there are several clusters: say which one, with --on a='sbatch …'"}, gone...)...)}},
		"no job": {[]Place{{"a", true}}, []turn{
			hear(both, "submit on a for 7"),
			{Submitted{Cluster: "a", Err: errors.New("invalid partition")}, append([]string{"say invalid partition"}, gone...)}}},
		"another's job": {[]Place{{"a", false}}, []turn{
			hear(both, "send subscribe {Filter:{MinHosts:0 HostMem:0 TotalMem:0 Scratch:0 Arch: Attrs:map[] Clusters:[a]} Most:0 Jobs:[]}"),
			refuse(&launcher.Subscribe{}, launcher.Refuse{Code: launcher.CodeJob, Field: "jobs[0]", Text: "it is not yours"}, append([]string{"say refused (jobs[0]): it is not yours"}, gone...)...)}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, NewLauncher(Settings{Places: c.places}), append([]turn{hear(welcome(), "print application 7", "send list {}")}, c.turns...)...)
		})
	}
}

const subscribesToAll = "send subscribe {Filter:{MinHosts:0 HostMem:0 TotalMem:0 Scratch:0 Arch: Attrs:map[] Clusters:[]} Most:0 Jobs:[]}"

// A launcher that may use any cluster does not request the list. The sidecar sends the first view as soon as a cluster has been read.
func TestWhereThereIsNoClusterYet(t *testing.T) {
	for _, early := range []bool{true, false} { // the Okay may come before or after the view
		l := NewLauncher(Settings{})
		turns := []turn{hear(&launcher.Clusters{}, "say the sidecar has no cluster for applications at present: its first view comes with one", "expect")}
		if !early {
			turns = append([]turn{okay(&launcher.Subscribe{})}, turns...)
		}
		play(t, l, append([]turn{hear(welcome(), "print application 7", subscribesToAll)}, turns...)...)
		if early {
			play(t, l, turn{Expired{}, []string{"say the sidecar has no cluster for applications: there was none during 30s", "send done {Code:1}", "expect"}})
			continue
		}
		play(t, l, hear(both), hear(empty(1, start7, 0), "ask 1"), turn{Expired{}, nil})
	}
}

func TestModelWithImpossibleAnswers(t *testing.T) {
	for want, a := range map[string]selector.Answer{
		"the model asks for no hosts":                                {Walltime: 1},
		"the model asks for 9 hosts of a, which has 8":               {Hosts: []moldable.Part{{Cluster: 0, Hosts: 9}}, Walltime: 1},
		"the model asks for 0 hosts of a, which has 8":               {Hosts: []moldable.Part{{Cluster: 0, Hosts: 0}}, Walltime: 1},
		"the model asks for hosts of a cluster that is not in sight": {Hosts: []moldable.Part{{Cluster: 5, Hosts: 1}}, Walltime: 1},
		"the model asks for 7201 s: 1 to 7200 s are possible":        {Hosts: onA, Walltime: 7201},
		"the model asks for 0 s: 1 to 7200 s are possible":           {Hosts: onA},
	} {
		l := waitsForBoth(t)
		play(t, l,
			hear(empty(1, start7, 0), "ask 1"),
			turn{Selected{selector.Said{View: 1, Answer: a}}, []string{"say " + want, "send done {Code:1}", "expect"}})
		l = waitsForBoth(t)
		play(t, l,
			hear(empty(1, start7, 0), "ask 1"),
			answer(1, 60, onA, "send request {View:1 Tag:0 Hosts:[{C:0 N:8}] Walltime:60}"),
			hear(empty(2, start7, 0), "ask 2"),
			turn{Selected{selector.Said{View: 2, Answer: a}}, []string{"say " + want + ": the last request stands", "send ack {View:2}"}})
	}
}

func TestARequestThatIsRefused(t *testing.T) {
	request := "send request {View:1 Tag:0 Hosts:[{C:0 N:8}] Walltime:60}"
	for code, want := range map[string][]string{
		launcher.CodeHosts: {"say the request is refused: refused: no", "send done {Code:1}", "expect"},
		launcher.CodeFlood: {"send ack {View:1}"},
		launcher.CodeState: nil,
	} {
		l := waitsForBoth(t)
		play(t, l, hear(empty(1, start7, 0), "ask 1"), answer(1, 60, onA, request),
			refuse(&launcher.Request{View: 1, Tag: 0}, launcher.Refuse{Code: code, Text: "no"}, want...))
	}
}

func TestViewWithAWrongBaseIsRequestedAgain(t *testing.T) {
	l := waitsForBoth(t)
	odd := empty(2, start7, 0)
	odd.Base = 1
	play(t, l, hear(odd, "reconnect: view 2 differs from view 1, and view 0 is what is here: connect anew and ask for the whole"))
	if h := l.Hello("x"); h.App != 7 || h.Have != 0 {
		t.Errorf("it comes back with %+v", h)
	}
	play(t, l, hear(empty(1, start7, 0), "ask 1"))
	if h := l.Hello("x"); h.App != 7 || h.Have != 1 {
		t.Errorf("it comes back with %+v", h)
	}
}

func TestReconnectRepeatsMessagesThatMayBeLost(t *testing.T) {
	l := waitsForBoth(t)
	request := "send request {View:1 Tag:0 Hosts:[{C:0 N:8}] Walltime:60}"
	back := welcome()
	play(t, l,
		hear(empty(1, start7, 0), "ask 1"),
		answer(1, 60, onA, request),
		hear(back, "say the sidecar is there again", request))
	back.Tag = 0
	play(t, l, hear(back, "say the sidecar is there again"))
}

func TestWorkOnThisHost(t *testing.T) {
	t.Setenv("TZ", "UTC")
	ready := func() *Launcher {
		l := NewLauncher(Settings{})
		play(t, l,
			hear(welcome(), "print application 7", subscribesToAll),
			okay(&launcher.Subscribe{}),
			hear(both),
			hear(empty(1, start7, 0), "ask 1"))
		return l
	}
	started := "say started on a: 2 hosts, n[1-2]; b: 1 hosts, m7, until 2025-11-25 22:00:00"
	work := "work [{a n1} {a n2} {b m7}]"
	play(t, ready(),
		hear(grant(), started),
		hear(&launcher.Abort{Why: "b is slow", Again: true}, "say the start is given up: b is slow"),
		hear(empty(2, start7, 0), "ask 2"),
		hear(grant(), started),
		hear(grant()),
		hear(&launcher.Go{}, "say all parts run", work),
		hear(&launcher.Go{}),
		turn{Worked{Code: 4}, []string{"send done {Code:4}", "expect"}},
		okay(&launcher.Done{}, "exit 4"))
	play(t, ready(),
		hear(grant(), started),
		hear(&launcher.Go{}, "say all parts run", work),
		hear(&launcher.End{Why: launcher.WhyOverrun, In: 30}, "stop", "say the application is ended: it has used up its time; its hosts are taken in 30s", "exit 1"))
	one := grant()
	one.Hosts = one.Hosts[:1]
	play(t, ready(),
		hear(one, "say started on a: 2 hosts, n[1-2], until 2025-11-25 22:00:00"),
		hear(&launcher.Go{Hosts: one.Hosts}, "say it runs", "work [{a n1} {a n2}]"))
}
