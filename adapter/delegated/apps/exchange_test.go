package apps

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ugorji/go/codec"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

var updateFlag = flag.Bool("accordion.update", false, "write what the exchanges say now into testdata")

// messages returns an empty message for each type that a launcher or a part sends.
var messages = map[string]func() launcher.Message{
	"hello":     func() launcher.Message { return &launcher.Hello{} },
	"subscribe": func() launcher.Message { return &launcher.Subscribe{} },
	"list":      func() launcher.Message { return &launcher.List{} },
	"ack":       func() launcher.Message { return &launcher.Ack{} },
	"request":   func() launcher.Message { return &launcher.Request{} },
	"parts":     func() launcher.Message { return &launcher.Parts{} },
	"ready":     func() launcher.Message { return &launcher.Ready{} },
	"done":      func() launcher.Message { return &launcher.Done{} },
	"go":        func() launcher.Message { return &launcher.Go{} },
}

// exchange plays a script against a machine. In a script, lines that begin with "> " are events:
//
//	> at 120                                    the time advances to that second
//	> cluster a hosts=4 7:1:ann:pending         a reading: batch jobs, each as job:application:user:state
//	> cluster a 1/7:prepared:1:n1,n2            a reading: progress of orders, each as application/job:stand:try:nodes
//	> 1 ann → hello {"v":2}                     a message of session 1
//	> 1 leaves
//	> restart                                   a new machine begins with the records in the journal
//
// The other lines are the expected effects.
type exchange struct {
	t       *testing.T
	m       *Machine
	now     core.Time
	journal map[int64][]byte
	states  map[string]*mailbox.ClusterState
	seq     map[uint64]int64
	out     strings.Builder
}

var exchangeClusters = []Cluster{{Name: "a", Speed: 1, Site: "lyon"}, {Name: "b", Speed: 1.5, Site: "nice"}, {Name: "e", Speed: 1, Embedded: true}}

func (x *exchange) begin() {
	var all []Record
	for id := int64(0); id < 20; id++ {
		if data, ok := x.journal[id]; ok {
			all = append(all, Record{ID: id, Data: data})
		}
	}
	var err error
	x.m, err = New(x.now, exchangeClusters, []Link{{Between: [2]string{"lyon", "b"}, Latency: 5 * time.Millisecond, Bandwidth: 10000}}, Settings{
		FairStart: 5, Timer: 1, Answer: 30, Grace: 60, BringUp: 30, Guard: 60, Applications: 8, PerUser: 3,
	}, all)
	if err != nil {
		x.t.Fatal(err)
	}
	x.seq = map[uint64]int64{}
}

func (x *exchange) carry() {
	e := x.m.Effects()
	for _, r := range e.Stored {
		x.journal[r.ID] = r.Data
	}
	for _, id := range e.Deleted {
		delete(x.journal, id)
	}
	for _, n := range e.Notes {
		fmt.Fprintf(&x.out, "  %d %s: %s\n", n.Application, n.Verb, n.Text)
	}
	for _, s := range e.Sent {
		end := ""
		if s.Close {
			end = ", and closes"
		}
		fmt.Fprintf(&x.out, "%d ← %s%s\n", s.Session, show(s.Message), end)
	}
	for _, o := range e.Ordered {
		fmt.Fprintf(&x.out, "  orders for %s:", exchangeClusters[o.Cluster].Name)
		for _, p := range o.All {
			fmt.Fprintf(&x.out, " %s %d/%d try %d, %d hosts", []string{"wait", "prepare", "start", "run", "drop", "end", "ghost"}[p.Want],
				p.Application, p.Job, p.Try, p.Hosts)
			switch {
			case p.Want == mailbox.Wait && p.At < core.Forever:
				fmt.Fprintf(&x.out, " at %d", p.At)
			case p.Want == mailbox.Start, p.Want == mailbox.Run:
				fmt.Fprintf(&x.out, " by %d", p.By)
			case p.Want == mailbox.Ghost:
				fmt.Fprintf(&x.out, " until %d", p.Until)
			}
			x.out.WriteString(";")
		}
		x.out.WriteString("\n")
	}
}

func (x *exchange) until(to core.Time) {
	for x.m.Next() <= to {
		at := x.m.Next()
		if at > x.now {
			fmt.Fprintf(&x.out, "%d\n", at)
		}
		x.now = max(x.now, at)
		x.m.Wake(x.now)
		x.carry()
	}
	x.now = to
}

func (x *exchange) line(line string) {
	fmt.Fprintf(&x.out, "> %s\n", line)
	word := strings.Fields(line)
	var session uint64
	switch {
	case word[0] == "at":
		var to core.Time
		fmt.Sscan(word[1], &to)
		x.until(to)
	case word[0] == "restart":
		x.begin()
	case word[0] == "cluster":
		x.reading(word[1], word[2:])
	case word[1] == "leaves":
		fmt.Sscan(word[0], &session)
		x.m.Step(x.now, Disconnected{session})
	default:
		fmt.Sscan(word[0], &session)
		make, ok := messages[word[3]]
		if !ok {
			x.t.Fatalf("no message is called %q", word[3])
		}
		m := make()
		if len(word) > 4 {
			h := &codec.JsonHandle{}
			if err := codec.NewDecoderBytes([]byte(strings.Join(word[4:], " ")), h).Decode(m); err != nil {
				x.t.Fatalf("%s: %v", line, err)
			}
		}
		x.seq[session]++
		x.m.Step(x.now, Received{Session: session, User: word[1], Seq: x.seq[session], Message: m})
	}
	x.carry()
	x.until(x.now)
}

func (x *exchange) reading(name string, words []string) {
	b := &mailbox.ClusterState{Read: x.now, Hosts: 4}
	if old := x.states[name]; old != nil {
		b.Hosts, b.Jobs = old.Hosts, old.Jobs
	}
	var jobs []mailbox.Job
	for _, w := range words {
		var id, app int64
		if _, err := fmt.Sscanf(w, "hosts=%d", &b.Hosts); err == nil {
			continue
		}
		f := strings.Split(w, ":")
		if before, after, ok := strings.Cut(f[0], "/"); ok {
			s := mailbox.Standing{}
			fmt.Sscan(before, &s.Application)
			fmt.Sscan(after, &s.Job)
			s.Stand = map[string]mailbox.Stand{"waiting": mailbox.Waiting, "prepared": mailbox.Prepared, "refused": mailbox.Refused, "starting": mailbox.Starting,
				"running": mailbox.Running, "over": mailbox.Over, "died": mailbox.Over, "ghosted": mailbox.Ghosted}[f[1]]
			if s.Failed = f[1] == "died"; f[1] == "refused" {
				s.Why = "no nodes"
			}
			fmt.Sscan(f[2], &s.Try)
			if len(f) > 3 {
				s.Nodes = strings.Split(f[3], ",")
			}
			b.Parts = append(b.Parts, s)
			continue
		}
		fmt.Sscan(f[0], &id)
		fmt.Sscan(f[1], &app)
		jobs = append(jobs, mailbox.Job{ID: core.JobID(id), Application: app, User: f[2], State: adapter.State(f[3])})
	}
	if jobs != nil {
		b.Jobs = jobs
	}
	x.states[name] = b
	for i, c := range exchangeClusters {
		if c.Name == name {
			x.m.Step(x.now, StateShown{i, b})
		}
	}
}

// TestExchanges plays the scripts in testdata/exchanges, and compares the effects with the expected ones.
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/exchanges/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			x := &exchange{t: t, now: 100, journal: map[int64][]byte{}, states: map[string]*mailbox.ClusterState{}}
			x.begin()
			for line := range strings.Lines(string(text)) {
				switch line = strings.TrimSuffix(line, "\n"); {
				case strings.HasPrefix(line, "> "):
					x.line(line[2:])
				case strings.HasPrefix(line, "#"):
					x.out.WriteString(line + "\n")
				}
			}
			if *updateFlag {
				if err := os.WriteFile(file, []byte(x.out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := x.out.String(); got != string(text) {
				t.Errorf("%s is not what comes now (-accordion.update writes it):\n%s", file, got)
			}
		})
	}
}
