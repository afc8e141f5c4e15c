package application

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"accordion/core/moldable"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
)

// Whatever events come, in any order, a launcher follows the protocol. It sends one answer to each view, one message about parts at a time,
// increasing tags, and nothing after its end. It ends the command on this host before it exits.
func TestALauncherKeepsToTheProtocolWhateverComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.SampledFrom([][]Place{nil, {{"", true}}, {{"a", true}, {"b", true}}, {{"a", false}, {"b", false}}}).Draw(t, "places")
		l := NewLauncher(Settings{Places: places})
		var views, tag int64 = 0, -1
		owed, telling, working, over := int64(0), false, false, false
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			e := drawEvent(t, l, &views)
			switch e := e.(type) {
			case Heard:
				switch e.Message.(type) {
				case *launcher.Welcome:
					telling = false
				}
			case Answered:
				switch m := e.To.(type) {
				case *launcher.Parts:
					telling = false
				case *launcher.Request: // if a request is refused, its view counts as unanswered
					owed = m.View
				}
			case Worked:
				working = false
			}
			acts := l.Handle(e)
			if over && len(acts) > 0 {
				t.Fatalf("after its end it does %v", written(acts))
			}
			for _, act := range acts {
				switch a := act.(type) {
				case Ask:
					owed = a.Sight.View
				case Work:
					if working {
						t.Fatal("it works twice at a time")
					}
					working = true
				case Stop:
					working = false
				case Exit:
					if over = true; working {
						t.Fatal("it leaves what works on this host behind")
					}
				case Send:
					if p := launcher.Check(a.Message); p != nil {
						t.Fatalf("it sends %+v: %v", a.Message, p)
					}
					switch m := a.Message.(type) {
					case *launcher.Ack:
						if m.View != owed {
							t.Fatalf("it acknowledges view %d, owed is %d", m.View, owed)
						}
						owed = 0
					case *launcher.Request:
						if m.Tag < tag {
							t.Fatalf("tag %d after %d", m.Tag, tag)
						}
						tag, owed = m.Tag, 0
					case *launcher.Parts:
						if telling {
							t.Fatal("two messages about parts at a time")
						}
						telling = true
					}
				}
			}
		}
	})
}

func drawEvent(t *rapid.T, l *Launcher, views *int64) Event {
	job := int64(rapid.IntRange(10, 14).Draw(t, "job"))
	cluster := rapid.IntRange(0, 1).Draw(t, "cluster")
	name := []string{"a", "b"}[cluster]
	why := []string{launcher.CodeState, launcher.CodeFlood, launcher.CodeView, launcher.CodeJob}[rapid.IntRange(0, 3).Draw(t, "code")]
	refuse := &launcher.Refuse{Code: why}
	switch rapid.IntRange(0, 16).Draw(t, "event") {
	case 0, 1:
		return Heard{&launcher.Welcome{Version: 2, App: 7, Tag: l.tag}}
	case 2:
		return Heard{both}
	case 3, 4, 5:
		*views++
		return Heard{empty(*views, 1000+*views, int64(rapid.IntRange(0, 2).Draw(t, "estimate"))*2000)}
	case 6, 7:
		a := selector.Answer{Hosts: []moldable.Part{{Cluster: cluster, Hosts: rapid.IntRange(1, 8).Draw(t, "hosts")}}, Walltime: 60}
		return Selected{selector.Said{View: l.sight.View, Answer: a}}
	case 8:
		return Selected{selector.Said{View: l.sight.View, Answer: selector.Answer{Keep: true}}}
	case 9:
		return Heard{grant()}
	case 10:
		return Heard{&launcher.Go{Hosts: grant().Hosts}}
	case 11:
		return Heard{&launcher.Abort{Why: "x", Again: rapid.Bool().Draw(t, "again")}}
	case 12:
		return Heard{&launcher.Lost{C: cluster, Job: job}}
	case 13, 14:
		return Submitted{Cluster: name, Job: job}
	case 15:
		if rapid.Bool().Draw(t, "okay") {
			return Answered{To: &launcher.Parts{Jobs: []launcher.Part{{Cluster: name, Job: job}}}}
		}
		return Answered{To: &launcher.Parts{Jobs: []launcher.Part{{Cluster: name, Job: job}}}, Refuse: refuse}
	}
	return []Event{
		Answered{To: &launcher.Subscribe{}}, Answered{To: &launcher.Request{View: max(1, l.sight.View), Tag: l.tag}, Refuse: refuse}, Worked{Code: 3}, Interrupted{}, Expired{},
		Answered{To: &launcher.Done{}}, Lost{errors.New("x")}, Heard{&launcher.End{Why: "lost"}}, Heard{&launcher.Done{Code: 1}},
	}[rapid.IntRange(0, 8).Draw(t, "rare")]
}
