package sidecar_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// damage changes the bytes of a job's record, as a failing disk does. The sidecar must not run
// during the call.
func (w *world) damage(job int64, change func(data []byte) []byte) {
	w.t.Helper()
	db, err := sql.Open("sqlite3", w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	var data []byte
	if err := db.QueryRow(`SELECT data FROM record WHERE job = ?`, job).Scan(&data); err != nil {
		w.t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE record SET data = ? WHERE job = ?`, append([]byte{}, change(data)...), job); err != nil {
		w.t.Fatal(err)
	}
}

// unsummed returns a record without its checksum, as an older Accordion wrote it.
func unsummed(data []byte) []byte {
	if rest, is := bytes.CutPrefix(data, []byte(`{"sum":"`)); is {
		return append([]byte("{"), rest[len(`01234567",`):]...)
	}
	return data
}

// A record is damaged if its values are impossible, or if its checksum is wrong.
func TestDamagedRecordIsSetAsideAndTheJobAdoptedAgain(t *testing.T) {
	swap := func(old, new string) func([]byte) []byte {
		return func(data []byte) []byte {
			if !bytes.Contains(data, []byte(old)) {
				t.Fatalf("no %s in %s", old, data)
			}
			return bytes.Replace(data, []byte(old), []byte(new), 1)
		}
	}
	for name, c := range map[string]struct {
		summed bool // the record has its checksum
		change func([]byte) []byte
	}{
		"choice": {false, swap(`"Choice":0`, `"Choice":99`)},
		"step":   {false, swap(`"Step":0`, `"Step":-1`)},
		"target": {false, swap(`"Target":0`, `"Target":7`)},
		"promise": {false, func(data []byte) []byte {
			i := bytes.Index(data, []byte(`"Promise":[`))
			j := bytes.IndexByte(data[i:], ']')
			return fmt.Appendf(nil, `%s"Promise":[1%s`, data[:i], data[i+j:])
		}},
		"phase":       {false, swap(`"Phase":"running"`, `"Phase":"flying"`)},
		"request":     {false, swap(`ep=2x40s,5x40s`, `ep=2x40s,5y40s`)},
		"another key": {false, swap(`"ID":1`, `"ID":2`)},
		"half of it":  {false, func(data []byte) []byte { return data[:len(data)/2] }},
		"nothing":     {false, func([]byte) []byte { return nil }},
		"rubbish":     {false, func([]byte) []byte { return []byte("\x00\xff rubbish") }},
		"a digit":     {true, swap(`"Resizes":0`, `"Resizes":6`)},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				job := w.evolving("2x40s,5x40s")
				w.at(20)
				w.halt()
				w.damage(int64(job.ID), func(data []byte) []byte {
					if !c.summed {
						data = unsummed(data)
					}
					return c.change(data)
				})
				w.serve()
				w.quiet(200)
				if got := w.steps(job); got != "2 5" {
					t.Errorf("it ran on %s nodes, want 2 5\n%s", got, w.journalled())
				}
				if got := w.events(job); got != "accepted starting started damaged accepted started grew ended" {
					t.Errorf("its life was %s", got)
				}
				if said := w.journalled(); !strings.Contains(said, "what the journal remembers of job 1 is damaged") || !strings.Contains(said, "taken up again") {
					t.Errorf("the journal does not say what to do:\n%s", said)
				}
				w.clean()
			})
		})
	}
}

// An older Accordion wrote records without a checksum.
func TestRecordOfAnOlderAccordionIsRead(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x40s,5x40s")
		w.at(20)
		w.halt()
		summed := false
		w.damage(int64(job.ID), func(data []byte) []byte {
			old := unsummed(data)
			summed = len(old) < len(data)
			return old
		})
		w.serve()
		w.quiet(200)
		if got := w.events(job); got != "accepted starting started grew ended" || !summed {
			t.Errorf("its life was %s; its record had a checksum: %v", got, summed)
		}
		w.clean()
	})
}
