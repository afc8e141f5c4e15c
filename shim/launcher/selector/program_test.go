package selector

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/internal/testenv"
	"accordion/shim/wire/launcher"
)

func TestAViewAsAProgramReadsIt(t *testing.T) {
	s := Sight{View: 7, Now: 100, Clusters: []Seen{seen(0, "a", 128, 1.1, 0, 3, 50, 9, 200, 0, 300, 2), seen(1, "b", 4, 1)},
		Links: []launcher.Link{{A: 0, B: 1, Latency: 5000}}}
	s.Clusters[0].Site, s.Clusters[0].Cores, s.Clusters[0].Mem, s.Clusters[0].Scratch, s.Clusters[0].Arch = "lyon", 36, 192_000, 400_000, "x86_64"
	got, err := lineOf(s, 3600)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"now":100,"version":7,"estimate":null,"most":3600,"clusters":[` +
		`{"name":"a","hosts":128,"cores":36,"mem":192000,"scratch":400000,"arch":"x86_64","speed":1.1,"site":"lyon","latency_ms":{"b":5},"busy":[[50,200,9],[300,null,2]]},` +
		`{"name":"b","hosts":4,"speed":1,"site":"","latency_ms":{"a":5},"busy":[]}]}` + "\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s.Estimate = 1234
	if got, _ := lineOf(s, 0); !strings.Contains(string(got), `"estimate":1234,"clusters"`) {
		t.Errorf("%s", got)
	}
}

func TestWhatAProgramMayAnswer(t *testing.T) {
	s := Sight{View: 7, Clusters: []Seen{seen(2, "a", 8, 1), seen(5, "b", 4, 1)}}
	for line, want := range map[string]Answer{
		`{"version":7,"request":{"b":2,"a":8},"walltime":3600}`:  {Hosts: []moldable.Part{part(2, 8), part(5, 2)}, Walltime: 3600},
		`{"version":7,"request":{"a":8,"b":0},"walltime":59.01}`: {Hosts: []moldable.Part{part(2, 8)}, Walltime: 60},
		`{"version":7,"keep":true}`:                              {Keep: true},
	} {
		version, got, err := answerOf([]byte(line), s)
		if d := cmp.Diff(want, got); d != "" || version != 7 || err != nil {
			t.Errorf("%s: version %d, %v\n%s", line, version, err, d)
		}
	}
	if version, _, err := answerOf([]byte(`{"version":6,"request":{"x":1}}`), s); version != 6 || err != nil {
		t.Errorf("an old one: %d, %v", version, err)
	}
	for _, line := range []string{
		"", "hello", "[]", "{}", `{"version":7}`, `{"version":7,"request":{"a":1}}`, `{"version":7,"request":{"a":9},"walltime":1}`,
		`{"version":7,"request":{"a":1.5},"walltime":1}`, `{"version":7,"request":{"a":-1},"walltime":1}`, `{"version":7,"request":{"x":1},"walltime":1}`,
		`{"version":7,"request":{"a":0},"walltime":1}`, `{"version":7,"request":{"a":1},"walltime":0}`, `{"version":7,"request":{"a":1},"walltime":1e300}`,
		`{"version":7,"request":{"a":1},"walltime":1} {}`, `{"version":9223372036854775808,"keep":true}`,
	} {
		if _, a, err := answerOf([]byte(line), s); err == nil {
			t.Errorf("%s is taken for %+v", line, a)
		}
	}
}

// conversation starts a program. The function `say` sends the program a view of one cluster, and `next` reads the
// program's next answer.
func conversation(t *testing.T, script string, patience time.Duration) (say func(view int64), next func() Said) {
	t.Helper()
	p, err := startProgram([]string{"sh", "-c", script}, 0, os.Stderr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	say = func(view int64) { p.See(Sight{View: view, Clusters: []Seen{seen(0, "a", 4, 1)}}) }
	return say, func() Said { return <-p.Answers() }
}

const never = time.Hour

func TestAProgramAnswersViewAfterView(t *testing.T) {
	say, next := conversation(t, `
		while read line; do
			v=${line#*\"version\":} v=${v%%,*}
			echo "{\"version\":$((v-1)),\"request\":{\"a\":1},\"walltime\":1}" # an old one is passed over
			echo "{\"version\":$v,\"request\":{\"a\":2},\"walltime\":10}"
		done`, never)
	for view := range int64(5) {
		say(view + 1)
		if got, want := next(), (Said{View: view + 1, Answer: Answer{Hosts: []moldable.Part{part(0, 2)}, Walltime: 10}}); cmp.Diff(want, got) != "" {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
}

func TestProgramThatIsLateOrInvalidOrEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		patience time.Duration
		want     string
	}{
		"late":     {"exec sleep 100", soon, "the model's program has not answered view 1 within 20ms"},
		"nonsense": {"read view; echo $((6*7)) me; exec sleep 100", never, `the model's program says nonsense, "42 me": `},
		"endless":  {"exec cat /dev/zero", never, "the model's program has ended"},
		"ended":    {"exit 3", never, "the model's program has ended"},
		"deaf":     {"exec <&-; trap '' TERM; sleep 100 & wait", soon, "the model's program has not answered view 1 within 20ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			say, next := conversation(t, c.script, c.patience)
			say(1)
			said := next()
			for said.View == 0 { // the answer came before the view was sent
				said = next()
			}
			if said.View != 1 || said.Err == nil || !strings.HasPrefix(said.Err.Error(), c.want) {
				t.Errorf("view %d: %v, want %s", said.View, said.Err, c.want)
			}
			if name == "ended" {
				if say(2); next().Err == nil {
					t.Error("a program that has ended answers")
				}
			}
		})
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	m, err := Parse("exec:/nowhere/selector --fast")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Start(0, os.Stderr); err == nil || !strings.HasPrefix(err.Error(), "starting the model's program: ") {
		t.Errorf("%v", err)
	}
}

// The example program for users requests the same as Algorithm 1, for work that divides without loss.
func TestTheExampleSelectorAsksForWhatCompletesFirst(t *testing.T) {
	python := testenv.Program(t, "python3")
	p, err := startProgram([]string{python, "../../../examples/launcher/selector.py", "16000"}, 0, os.Stderr, never)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for view, clusters := range [][]Seen{
		{seen(0, "a", 8, 1), seen(1, "b", 4, 2)},
		{seen(0, "a", 8, 1, 0, 6, 1100, 0), seen(1, "b", 4, 2, 0, 4, 10_000, 0)},
		{seen(0, "a", 8, 1, 50, 8, 200, 3, 900, 0), seen(1, "b", 6, 1.5, 0, 2, 500, 6, 600, 1)},
	} {
		s := Sight{View: int64(view + 1), Now: 100, Clusters: clusters}
		p.See(s)
		said := <-p.Answers()
		if said.Err != nil || said.View != s.View {
			t.Fatalf("%+v", said)
		}
		ends := func(a Answer) core.Time {
			at, c := s.Now, s.Cluster(a.Hosts[0].Cluster)
			for c.free(at, at+a.Walltime) < a.Hosts[0].Hosts {
				at++
			}
			return at + a.Walltime
		}
		if want := choose(t, "amdahl:p=1,t1=16000s,nodes=1-8", s, 0); ends(said.Answer) != ends(want) {
			t.Errorf("view %d: it asks for %+v, which ends at %d; %+v ends at %d", s.View, said.Answer, ends(said.Answer), want, ends(want))
		}
	}
}
