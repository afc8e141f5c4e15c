package apps

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// recordsOfOne returns the records in the journal while application 1 runs on an embedded cluster.
func recordsOfOne(t testing.TB) []Record {
	m, err := New(1000, []Cluster{{Name: "e", Speed: 1, Embedded: true}}, nil, Settings{Timer: 1, Answer: 30, Grace: 60, BringUp: 30, Applications: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	records := map[int64]Record{}
	step := func(now core.Time, e Event) {
		m.Step(now, e)
		if m.Next() <= now {
			m.Wake(now)
		}
		for _, r := range m.Effects().Stored {
			records[r.ID] = r
		}
	}
	step(1000, StateShown{0, &mailbox.ClusterState{Read: 1000, Hosts: 8}})
	step(1000, Received{Session: 1, User: "ann", Seq: 1, Message: &launcher.Hello{Version: 2, Speaks: []int{2}}})
	step(1000, Received{Session: 1, User: "ann", Seq: 2, Message: &launcher.Subscribe{}})
	step(1001, Received{Session: 1, User: "ann", Seq: 3, Message: &launcher.Request{View: 1, Tag: 0, Hosts: []launcher.Hosts{{C: 0, N: 4}}, Walltime: 600}})
	for now := core.Time(1002); now < 1010; now++ {
		step(now, StateShown{0, &mailbox.ClusterState{Read: now, Hosts: 8}})
	}
	return []Record{records[lastNumber], records[1]}
}

// A damaged record does not prevent the machine from starting. The machine reports what an administrator can do, and does not use the
// number of the damaged application again.
func TestDamagedRecordOfAnApplicationIsSetAside(t *testing.T) {
	swap := func(old, new string) func(*Record) {
		return func(r *Record) {
			if !strings.Contains(string(r.Data), old) {
				t.Fatalf("no %s in %s", old, r.Data)
			}
			r.Data = []byte(strings.Replace(string(r.Data), old, new, 1))
		}
	}
	for name, change := range map[string]func(*Record){
		"its checksum":  func(r *Record) { r.Damaged = errors.New("another checksum") },
		"half of it":    func(r *Record) { r.Data = r.Data[:len(r.Data)/2] },
		"nothing":       func(r *Record) { r.Data = nil },
		"null":          func(r *Record) { r.Data = []byte("null") },
		"the number":    swap(`"id":1`, `"id":7`),
		"the user":      swap(`"user":"ann"`, `"user":""`),
		"the phase":     swap(`"phase":"`, `"phase":"un`),
		"no part":       swap(`"parts":[{`, `"parts":[null,{`),
		"its hosts":     swap(`"hosts":4`, `"hosts":-4`),
		"its walltime":  swap(`"walltime":600`, `"walltime":-600`),
		"its view":      swap(`"view":`, `"view":9223372036854775807,"View":9223372036854775807,"tag":-5,"x":`),
		"parts of none": swap(`"hosts":4`, `"hosts":0`),
	} {
		t.Run(name, func(t *testing.T) {
			records := recordsOfOne(t)
			change(&records[1])
			m, err := New(2000, []Cluster{{Name: "e", Speed: 1, Embedded: true}}, nil, Settings{Timer: 1, Answer: 30, Grace: 60, BringUp: 30, Applications: 8}, records)
			if err != nil {
				t.Fatal(err)
			}
			e := m.Effects()
			if len(e.Notes) != 1 || e.Notes[0].Verb != "damaged" || e.Notes[0].Application != 1 || !strings.Contains(e.Notes[0].Text, "Submit it again") || fmt.Sprint(e.Deleted) != "[1]" {
				t.Fatalf("notes %+v, gone %v", e.Notes, e.Deleted)
			}
			m.Step(2000, Received{Session: 1, User: "ann", Seq: 1, Message: &launcher.Hello{Version: 2, Speaks: []int{2}, App: 1}})
			m.Step(2000, Received{Session: 2, User: "ann", Seq: 1, Message: &launcher.Hello{Version: 2, Speaks: []int{2}}})
			var said []string
			for _, s := range m.Effects().Sent {
				switch x := s.Message.(type) {
				case *launcher.Refuse:
					said = append(said, x.Code)
				case *launcher.Welcome:
					said = append(said, fmt.Sprint("application ", x.App))
				}
			}
			if got := strings.Join(said, ", "); got != launcher.CodeUnknown+", application 2" {
				t.Errorf("the launchers received %s", got)
			}
		})
	}
}

func TestDamagedNumberOfTheLastApplicationIsReplacedByALaterOne(t *testing.T) {
	records := recordsOfOne(t)
	for _, data := range []string{"", "{}", "-1", "1e99", "rubbish"} {
		records[0].Data = []byte(data)
		m, err := New(2000, []Cluster{{Name: "e", Speed: 1, Embedded: true}}, nil, Settings{Timer: 1, Applications: 8}, records)
		if err != nil {
			t.Fatal(err)
		}
		e := m.Effects()
		if len(e.Notes) != 1 || m.last != 1+skipped || len(e.Stored) == 0 {
			t.Errorf("%q: the last number is %d, notes %+v, stored %v", data, m.last, e.Notes, e.Stored)
		}
	}
}

// Whatever a record contains, the machine either continues the application and stays consistent, or sets the record aside.
func FuzzRecord(f *testing.F) {
	for _, r := range recordsOfOne(f) {
		f.Add(r.Data)
	}
	for _, phase := range []string{"fresh", "subscribed", "waiting", "preparing", "starting", "running", "ending"} {
		f.Add(fmt.Appendf(nil, `{"id":1,"user":"ann","phase":"%s","parts":[{"cluster":"e","hosts":4},{"cluster":"a","job":7,"hosts":2,"kept":1}],"tag":0,"walltime":600,"view":3,"acked":3,"at":900,"by":1500}`, phase))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := New(1000, []Cluster{{Name: "a"}, {Name: "e", Embedded: true}}, nil, Settings{Timer: 1, Answer: 3, Grace: 10, BringUp: 5, Applications: 8}, []Record{{ID: 1, Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		for now := core.Time(1000); now < 1030; now += 3 {
			m.Step(now, StateShown{0, &mailbox.ClusterState{Read: now, Hosts: 8, Jobs: []mailbox.Job{{ID: 7, Application: 1, User: "ann", State: "pending"}}}})
			m.Step(now, StateShown{1, &mailbox.ClusterState{Read: now, Hosts: 8}})
			m.Wake(now)
			if wrong := m.audit(); wrong != "" {
				t.Fatal(wrong)
			}
			m.Effects()
		}
		m.Snapshot()
	})
}
