package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUnusableFilesAreRefusedWithWhatToDo(t *testing.T) {
	foreign := func(path string) error {
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec("CREATE TABLE theirs (x)")
		return err
	}
	newer := func(path string) error {
		j, err := Open(path)
		if err != nil {
			return err
		}
		defer j.Close()
		_, err = j.write.Exec("PRAGMA user_version = 99")
		return err
	}
	damaged := func(path string) error {
		j, err := Open(path)
		if err != nil {
			return err
		}
		for i := range 50 {
			if err := j.Put(Record{Job: int64(i), Data: make([]byte, 5000)}); err != nil {
				return err
			}
		}
		if _, err := j.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return err
		}
		if err := j.Close(); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		rubbish := strings.Repeat("rubbish ", 512*40)
		_, err = f.WriteAt([]byte(rubbish), 2*4096)
		return err
	}
	for _, c := range []struct {
		name string
		make func(path string) error
		want error
		say  string
	}{
		{"another program's database", foreign, errForeign, "[journal] path"},
		{"a newer version's journal", newer, errNewer, "install that version"},
		{"no database at all", func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("text ", 400)), 0o600) },
			ErrDamaged, "only the history is lost"},
		{"a journal with rubbish in its middle", damaged, ErrDamaged, "only the history is lost"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, unix.EISDIR, "able to write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j.db")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			j, err := Open(path)
			if err == nil {
				j.Close()
				t.Fatal("it was opened")
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q, want one that is %q, names the file and says %q", err, c.want, c.say)
			}
			if again := must(acquire(path))(t); again != nil { // a refused Acquire must not keep the lock
				again.Release()
			}
		})
	}
}

func TestReadingMissingJournalIsExplained(t *testing.T) {
	folder := t.TempDir()
	empty := filepath.Join(folder, "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, say := range map[string]string{
		filepath.Join(folder, "absent.db"): "has the sidecar ever run",
		empty:                              "start the sidecar on it once",
	} {
		if _, err := OpenReadOnly(path); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want an error that says %q", path, err, say)
		}
	}
}

// A journal of the first version has no queue. A sidecar migrates the journal and keeps its
// content.
func TestJournalOfOlderVersionIsMigratedBySidecarAndNotByReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	older := open(path, writerOptions)
	script := string(must(migrations.ReadFile("migrations/1.sql"))(t)) +
		fmt.Sprintf("; PRAGMA application_id = %d; PRAGMA user_version = 1; INSERT INTO record VALUES (7, 99, x'7b7d')", applicationID)
	if _, err := older.Exec(script); err != nil {
		t.Fatal(err)
	}
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(path); err == nil || !strings.Contains(err.Error(), "start the sidecar of this version on it once") {
		t.Errorf("reading it: %v, want an error that says what to do", err)
	}
	j := must(Open(path))(t)
	defer j.Close()
	if records := must(j.Records())(t); len(records) != 1 || string(records[0].Data) != "{}" {
		t.Errorf("records %v, want the one of before", records)
	}
	if err := j.PutQueue([]byte("{}")); err != nil {
		t.Error(err)
	}
}

func TestFullDatabaseIsExplainedAndWorksAgainWithRoom(t *testing.T) {
	j, _ := fresh(t)
	if _, err := j.write.Exec("PRAGMA max_page_count = 12"); err != nil {
		t.Fatal(err)
	}
	big := Record{Job: 1, Submitted: 1, Data: make([]byte, 64<<10)}
	err := j.Put(big)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "make room") {
		t.Errorf("error %v, want ErrFull that says to make room", err)
	}
	if _, err := j.write.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if err := j.Put(big); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestNetworkFileSystemsAreKnownByNumberAndLocalOnesPass(t *testing.T) {
	for kind, want := range map[int64]string{
		0x6969: "NFS", 0xff534d42: "SMB", -0xacb2be: "SMB", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS",
		0xef53: "", 0x58465342: "", 0x01021994: "", 0x794c7630: "", // ext4, XFS, tmpfs, overlay
	} {
		if got := network(kind); got != want {
			t.Errorf("file system %#x: %q, want %q", kind, got, want)
		}
	}
}
