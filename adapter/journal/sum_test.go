package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
)

// Either a changed byte is reported, or the record is still read as it was written.
func TestEveryChangedByteOfRecordIsNoticed(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	want := []byte(`{"ID":7,"Request":"ep=2x20s,5x20s","Promise":[20,40]}`)
	if err := j.Put(Record{Job: 7, Submitted: 9, Data: want}); err != nil {
		t.Fatal(err)
	}
	var kept []byte
	if err := j.read.QueryRow(`SELECT data FROM record`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(kept) {
		t.Errorf("an older Accordion cannot read %s", kept)
	}
	read := func() Record {
		t.Helper()
		all, err := j.Records()
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	if r := read(); r.Damaged != nil || !bytes.Equal(r.Data, want) {
		t.Fatalf("it is read as %s, %v", r.Data, r.Damaged)
	}
	for i := range kept {
		for bit := range 8 {
			changed := bytes.Clone(kept)
			changed[i] ^= 1 << bit
			if _, err := j.write.Exec(`UPDATE record SET data = ?`, changed); err != nil {
				t.Fatal(err)
			}
			var head map[string]any
			r := read()
			switch {
			case errors.Is(r.Damaged, ErrChanged):
			case r.Damaged == nil && i < len(sumHead) && (json.Unmarshal(r.Data, &head) != nil || bytes.HasSuffix(r.Data, want[1:])): // not JSON, or only the key of the checksum changed
			default:
				t.Errorf("with byte %d of %s changed it is read as %s, %v", i, kept, r.Data, r.Damaged)
			}
		}
	}
}

func TestRecordWithoutChecksumIsReadUnchanged(t *testing.T) {
	for _, data := range []string{"", "{}", "17", `{"ID":7}`, "rubbish", "{"} {
		if got, err := unsummed([]byte(data)); string(got) != data || err != nil {
			t.Errorf("%q is read as %q, %v", data, got, err)
		}
		if got, err := unsummed(summed([]byte(data))); string(got) != data || err != nil {
			t.Errorf("%q is written and read as %q, %v", data, got, err)
		}
	}
}
