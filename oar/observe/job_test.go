package observe

import (
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
)

// cast parses jobs: NUMBER STATE[ of BASE][ MARK][ HOSTS][ on PLACES].
func cast(t *testing.T, lines ...string) []*Job {
	t.Helper()
	var all []*Job
	for _, line := range lines {
		r := &Job{Adopted: true, Released: true}
		fields := strings.Fields(line)
		if _, err := fmt.Sscan(fields[0], &r.ID); err != nil {
			t.Fatal(err)
		}
		r.OARState = fields[1]
		for i := 2; i < len(fields); i++ {
			switch f := fields[i]; f {
			case "of":
				i++
				if _, err := fmt.Sscan(fields[i], &r.BaseJob); err != nil {
					t.Fatal(err)
				}
			case "on":
				i++
				r.Places = strings.Split(fields[i], ",")
			case AtStart, Grown:
				r.Joined = f
			case "held":
				r.Released = false
			case "marked":
				r.Mark = "accordion:ep=2x20s"
			default:
				r.Holds = strings.Split(f, ",")
			}
		}
		if r.BaseJob == 0 {
			r.Comment = "ep=2x20s"
		}
		r.State = r.stateOf()
		all = append(all, r)
	}
	return all
}

func inWords(records []*Job) string {
	var all []string
	for _, r := range records {
		text := fmt.Sprintf("%d %s %s", r.ID, r.State, strings.Join(r.Nodes, ","))
		if r.Held {
			text += "held"
		}
		if r.HeldByUser {
			text += " by its user"
		}
		if r.Blocked {
			text += " blocked"
		}
		if r.Expands != 0 {
			text += fmt.Sprintf(" expands %d", r.Expands)
		}
		all = append(all, strings.TrimSpace(text))
	}
	return strings.Join(all, "; ")
}

func TestABaseAndItsCompanionsAreOneJob(t *testing.T) {
	nodes := map[string]*adapter.Node{}
	for _, name := range []string{"n1", "n2", "n3", "n4", "n5"} {
		nodes[name] = &adapter.Node{Name: name, Usable: true, Why: "Alive"}
	}
	nodes["n5"].Why = "Absent"
	for _, c := range []struct {
		name string
		cast []string
		want string
	}{
		{"a base alone", []string{"1 Running n1,n2"}, "1 running n1,n2"},
		{"grown", []string{"1 Running n2", "2 Running of 1 grown n1,n3"}, "1 running n2,n1,n3"},
		{"not merged yet", []string{"1 Running n2", "2 Running of 1 n1,n3"}, "1 running n2; 2 running n1,n3 expands 1"},
		{"not merged and not running", []string{"1 Running n2", "2 Waiting of 1 on n1"}, "1 running n2; 2 pending  expands 1"},
		{"begins", []string{"1 Running n2", "2 Running of 1 first n1", "3 Launching of 1 first n3"}, "1 pending"},
		{"began", []string{"1 Running n2", "2 Running of 1 first n1", "3 Running of 1 first n3"}, "1 running n2,n1,n3"},
		{"being launched", []string{"1 toLaunch n2", "2 toLaunch of 1 first n1"}, "1 pending"},
		{"being divided", []string{"1 Running n2", "2 Running of 1 grown n1,n3", "3 Waiting of 1 grown on n3"}, "1 running n2,n1,n3"},
		{"divided", []string{"1 Running n2", "3 Waiting of 1 grown on n3"}, "1 running n2,n3"},
		{"its base is over", []string{"2 Running of 1 grown n1,n3", "3 Waiting of 1 on n4"}, "2 running n1,n3 expands 1; 3 running  expands 1"},
		{"its base ends", []string{"1 Finishing n2", "2 Running of 1 grown n1,n3"}, "1 ending n2; 2 running n1,n3 expands 1"},
		{"a node of a companion is absent", []string{"1 Running n2", "2 Running of 1 grown n1,n5", "3 Running of 1 grown n3"}, "1 running n2,n1,n3"},
		{"all nodes of a companion are absent", []string{"1 Running n2", "2 Running of 1 grown n5", "3 Running of 1 grown n3"}, "1 running n2,n3; 2 running n5 expands 1"},
		{"a node is absent of a job that begins", []string{"1 Waiting", "2 Waiting of 1 first n1,n5"}, "1 pending; 2 pending n1,n5 expands 1"},
		{"waits", []string{"1 Waiting held"}, "1 pending held"},
		{"its user holds it", []string{"1 Hold held"}, "1 pending held by its user"},
		{"its user holds it, and it is ours", []string{"1 Hold held marked"}, "1 pending held blocked"},
		{"released", []string{"1 Waiting marked", "2 Waiting of 1 first on n1"}, "1 pending"},
	} {
		if got := inWords(assemble(cast(t, c.cast...), nodes)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAProfileIsReadFromAJobsTypes(t *testing.T) {
	for types, want := range map[string]string{
		"":                               "",
		"idempotent timesharing=user,*":  "",
		"ep=2x20s,5x20s":                 "ep=2x20s,5x20s",
		"noop ep1=2x20s ep2=4x10s,1x10s": "ep=2x20s|4x10s,1x10s",
		"ep":                             "",
		"epilogue=2x20s":                 "",
	} {
		if got := requestOf(strings.Fields(types)); got != want {
			t.Errorf("%q asks for %q, want %q", types, got, want)
		}
	}
}

func TestAJobThatCannotBeResizedSoundlyIsNamed(t *testing.T) {
	if why := unfit(&Job{types: []string{"ep=2x20s", "idempotent"}}); why != "" {
		t.Errorf("an ordinary evolving job: %s", why)
	}
	for _, kind := range []string{"besteffort", "container", "inner=7", "timesharing=user,*", "noop=standby", "cosystem", "deploy"} {
		if why := unfit(&Job{types: []string{"ep=2x20s", kind}}); !strings.Contains(why, "submit it without -t "+typeName(kind)) {
			t.Errorf("%s: %q", kind, why)
		}
	}
	if why := unfit(&Job{advance: true}); !strings.Contains(why, "without -r") {
		t.Errorf("an advance reservation: %q", why)
	}
}
