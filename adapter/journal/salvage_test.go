package journal

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// One damaged entry costs one entry.
func TestADamagedEntryCostsNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	const all = 1200 // more than two pages
	for i := range all {
		if err := j.Event(Event{At: time.Unix(int64(i), 0), Job: int64(i), Kind: "grew", Fields: map[string]any{"step": i}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.write.Exec(`UPDATE entry SET args = '{"step' WHERE id = 7 OR id = 512`); err != nil {
		t.Fatal(err)
	}
	s, err := j.Salvage()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Entries) != all-2 || s.Unread != 2 || !strings.HasPrefix(s.Why, "journal, entry 7: ") {
		t.Errorf("%d entries are read and %d are not (%s), want %d and 2, the first of them 7", len(s.Entries), s.Unread, s.Why, all-2)
	}
	if last := s.Entries[len(s.Entries)-1]; last.Job != all-1 {
		t.Errorf("the last entry is of job %d, want %d", last.Job, all-1)
	}
}
