package oar

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/oar/database"
	"accordion/oar/node"
)

// A cast is written as jobs: NUMBER STATE[ of BASE][ MARK][ HOSTS][ on PLACES].
func cast(t *testing.T, lines ...string) []*record {
	t.Helper()
	var all []*record
	for _, line := range lines {
		r := &record{known: true, released: true}
		fields := strings.Fields(line)
		if _, err := fmt.Sscan(fields[0], &r.ID); err != nil {
			t.Fatal(err)
		}
		r.state = fields[1]
		for i := 2; i < len(fields); i++ {
			switch f := fields[i]; f {
			case "of":
				i++
				if _, err := fmt.Sscan(fields[i], &r.base); err != nil {
					t.Fatal(err)
				}
			case "on":
				i++
				r.places = strings.Split(fields[i], ",")
			case atStart, grown:
				r.mark = f
			case "held":
				r.released = false
			case "marked":
				r.Mark = "accordion:ep=2x20s"
			default:
				r.holds = strings.Split(f, ",")
			}
		}
		if r.base == 0 {
			r.Comment = "ep=2x20s"
		}
		r.State = r.stand()
		all = append(all, r)
	}
	return all
}

func inWords(records []*record) string {
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
		{"a node of a companion is absent", []string{"1 Running n2", "2 Running of 1 grown n1,n5", "3 Running of 1 grown n3"}, "1 running n2,n3; 2 running n1,n5 expands 1"},
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
		if got := wishes(strings.Fields(types)); got != want {
			t.Errorf("%q asks for %q, want %q", types, got, want)
		}
	}
}

func TestTheBaseIsTheLeastStepOfTheProfilesThatBeginSo(t *testing.T) {
	for _, c := range []struct {
		request string
		first   int
		want    int // 0: an error
	}{
		{"ep=2x20s,5x20s,3x20s", 2, 2},
		{"ep=5x20s,1x20s,3x20s", 5, 1},
		{"ep=5x20s,1x20s,3x20s", 4, 0},
		{"ep=4x20s,2x20s|8x10s,6x10s", 8, 6},
		{"ep=4x20s,2x20s|4x10s,3x10s", 4, 2}, // whichever it is
		{"ep=none", 4, 0},
	} {
		r := &record{Job: adapter.Job{Mark: adapter.MarkPrefix + c.request}}
		got, err := baseOf(r, c.first)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s on %d nodes: %d, %v; want %d", c.request, c.first, got, err, c.want)
		}
	}
}

func TestALayerIsDividedWhereTheProfileDividesIt(t *testing.T) {
	hosts := []string{"n1", "n2", "n3"}
	for _, c := range []struct {
		profile string
		above   int
		want    int // companions
	}{
		{"2x20s,5x20s,2x20s", 2, 1},
		{"2x20s,5x20s,3x20s", 2, 3},
		{"2x20s,5x20s,8x20s,5x20s", 5, 1},
		{"2x20s,5x20s,8x20s,6x20s", 5, 3},
	} {
		r := &record{Job: adapter.Job{Mark: adapter.MarkPrefix + "ep=" + c.profile}}
		got := (*System)(nil).layers(r, c.above, hosts)
		if len(got) != c.want || !slices.Equal(slices.Concat(got...), hosts) {
			t.Errorf("%s above %d: %v, want %d companions", c.profile, c.above, got, c.want)
		}
	}
	if got := (*System)(nil).layers(&record{}, 2, nil); got != nil {
		t.Errorf("no hosts make %v", got)
	}
}

func TestAJobThatCannotBeResizedSoundlyIsNamed(t *testing.T) {
	if why := unfit(&record{types: []string{"ep=2x20s", "idempotent"}}); why != "" {
		t.Errorf("an ordinary evolving job: %s", why)
	}
	for _, kind := range []string{"besteffort", "container", "inner=7", "timesharing=user,*", "noop=standby", "cosystem", "deploy"} {
		if why := unfit(&record{types: []string{"ep=2x20s", kind}}); !strings.Contains(why, "submit it without -t "+typeName(kind)) {
			t.Errorf("%s: %q", kind, why)
		}
	}
	if why := unfit(&record{advance: true}); !strings.Contains(why, "without -r") {
		t.Errorf("an advance reservation: %q", why)
	}
}

func TestNumbersForAConditionAreNeverNone(t *testing.T) {
	for want, ids := range map[string][]int64{"-1": nil, "7": {7}, "1, 2, 3": {1, 2, 3}} {
		if got := database.List(ids); got != want {
			t.Errorf("%v is written %q", ids, got)
		}
	}
}

func TestAWordOfAUsersIsOneWordForAShell(t *testing.T) {
	for _, word := range []string{"plain", "it's", "$HOME `id` \"x\" \\", "''", ""} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+node.Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q arrives as %q, %v", word, out, err)
		}
	}
}
