package journal

import (
	"database/sql"
	"strings"
	"testing"
)

// If the disk loses a byte, only one entry's arguments are lost, and not the journal. But
// Unfinished, which looks for actions that may be half done, then fails.
func TestEntryWithUnreadableArgumentsIsOneEntry(t *testing.T) {
	j, path := fresh(t)
	for _, verb := range []string{"accepted", "starting", "ended"} {
		if err := j.Event(Event{At: noon, Job: 7, Kind: verb, Fields: map[string]any{"size": 3}}); err != nil {
			t.Fatal(err)
		}
	}
	damage := func(where string) {
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(`UPDATE entry SET args = '{"size' WHERE ` + where); err != nil {
			t.Fatal(err)
		}
	}
	damage("id = 2")
	got := all(t, j, 0)
	if len(got) != 3 || got[1].Args[Unreadable] != `{"size` || len(got[2].Args) != 1 || !strings.HasSuffix(got[1].Line(noon.Location()), ` starting unreadable={"size`) {
		t.Fatalf("%d entries: %+v", len(got), got)
	}
	if _, err := j.Unfinished(); err != nil {
		t.Errorf("an event is no action: %v", err)
	}
	if _, err := j.Begin(Intent{At: noon, Job: 7, Verb: "expand", Args: map[string]any{"size": 3}}); err != nil {
		t.Fatal(err)
	}
	damage("id = 4")
	if _, err := j.Unfinished(); err == nil || !strings.Contains(err.Error(), `entry 4: the arguments "{\"size" are no JSON`) {
		t.Errorf("an action whose arguments cannot be read: %v", err)
	}
}
