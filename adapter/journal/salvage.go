package journal

import (
	"fmt"
)

// A Salvaged is what could be read of a journal, whole or not.
type Salvaged struct {
	Entries []Entry
	Unread  int    // entries that could not be read
	Why     string // why not, for the first of them
}

// Salvage returns every intent and event that can be read, in order. One whose arguments are damaged
// is left out and counted.
func (j *Journal) Salvage() (Salvaged, error) {
	var all Salvaged
	for since := int64(0); ; {
		rows, err := j.read.Query(`SELECT id, kind, at, cluster, job, submitted, verb, text, args, finished, outcome
			FROM entry WHERE id > ? ORDER BY id LIMIT ?`, since, pageSize)
		if err != nil {
			return all, explain("reading", j.path, err)
		}
		read := 0
		for rows.Next() {
			e, err := scan(rows)
			if e.ID == 0 { // the row itself cannot be read
				rows.Close()
				return all, explain("reading", j.path, err)
			}
			read, since = read+1, e.ID
			if err == nil {
				all.Entries = append(all.Entries, e)
				continue
			}
			if all.Unread++; all.Why == "" {
				all.Why = fmt.Sprintf("journal, entry %d: %v", e.ID, err)
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return all, explain("reading", j.path, err)
		}
		if read < pageSize {
			return all, nil
		}
	}
}
