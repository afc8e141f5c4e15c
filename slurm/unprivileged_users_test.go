package slurm_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/adapter/status"
	"accordion/internal/lab"
)

// locker is a program that takes shared locks on the bytes of a file that SQLite locks. It prints the number of its
// locks, and keeps them until it ends.
const locker = `use Fcntl; $| = 1; my $n = 0;
if (open(my $f, "<", $ARGV[0])) { for my $at (120 .. 128) { $n++ if fcntl($f, F_SETLK, pack("s s x4 q q i x4", F_RDLCK, 0, $at, 1, 0)) } push @keep, $f }
print "$n locks\n"; sleep $ARGV[1]`

// Mallory holds locks on the journal of an earlier release. Every user could open that journal's file. After the
// upgrade she cannot lock the journal. Users now ask the sidecar for what they used to read in the journal, and see
// what Slurm's PrivateData permits.
func TestOrdinaryUsersAskTheSidecarAndLockNothing(t *testing.T) {
	lab := lab.Slurm(t, 4, lab.Users("alice", "mallory"), lab.Fast(), lab.Config("PrivateData=jobs"))
	p := serving(t, lab, "")
	p.endBy(syscall.SIGTERM)
	folder := filepath.Join(lab.Dir, "journal")
	index := filepath.Join(folder, "journal.db-shm")
	err := os.Chmod(folder, 0o755)
	for _, file := range []string{"journal.db", "journal.db-wal", "journal.db-shm"} { // with the file permissions that earlier releases set
		path := filepath.Join(folder, file)
		f, failed := os.OpenFile(path, os.O_CREATE, 0o644)
		err = errors.Join(err, failed, f.Close(), os.Chmod(path, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "mallory", "sh", "-c", `perl -e '`+locker+`' "$1" 300 >locks 2>&1 </dev/null &`, "sh", index)
	lab.Await(t, time.Minute, "mallory has her locks", func() bool { return strings.Contains(lab.File("mallory", "locks"), "9 locks") })
	p.start()
	if said := lab.Run(t, "mallory", "perl", "-e", locker, index, "0"); said != "0 locks" {
		t.Errorf("after the upgrade mallory has %s", said)
	}
	for file, want := range map[string]fs.FileMode{folder: 0o700, index: 0o600} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v (%v), want %04o", file, info.Mode(), err, want)
		}
	}

	own := lab.Submit(t, "alice", "srun sleep 100", "-N1", "-t2", "--comment=ep=1x60s,2x60s", "-J", "pending-plan")
	as := func(user string, command ...string) string {
		t.Helper()
		return lab.Run(t, user, append([]string{"accordion"}, command...)...)
	}
	lab.Await(t, time.Minute, "alice sees that her job runs", func() bool {
		said := as("alice", "status")
		return strings.Contains(said, own) && strings.Contains(said, "running")
	})
	other := lab.Submit(t, "mallory", "sleep 100", "-N4", "-t3", "-J", "others-secret")
	lab.Await(t, time.Minute, "mallory's job is in the queue", func() bool { return strings.Contains(as("mallory", "queue"), "others-secret") })
	for _, command := range [][]string{{"status"}, {"queue"}, {"explain", own}, {"journal"}, {"queue", "--json"}, {"explain", own, "--json"}, {"journal", "--json"}} {
		said := as("alice", command...)
		if command[0] != "journal" && !strings.Contains(said, own) {
			t.Errorf("accordion %v does not show alice her job:\n%s", command, said)
		}
		if strings.Contains(said, "mallory") || strings.Contains(said, "secret") {
			t.Errorf("accordion %v shows alice mallory's job:\n%s", command, said)
		}
	}
	if said := as("alice", "journal", "--job", own); !strings.Contains(said, "accepted") {
		t.Errorf("alice's journal: %s", said)
	}
	if said := as("mallory", "journal", "--job", own); said != "" {
		t.Errorf("mallory reads of alice's job: %s", said)
	}
	if said := p.accordion("queue"); !strings.Contains(said, "others-secret") || !strings.Contains(said, "pending-plan") {
		t.Errorf("root does not see every job:\n%s", said)
	}

	p.endBy(syscall.SIGTERM)
	away := 0
	lab.Await(t, time.Minute, "alice sees that the sidecar is away", func() bool {
		said, _, err := lab.Exec("alice", "", "accordion", "status", "--json")
		var report status.Report
		return err == nil && json.Unmarshal([]byte(said), &report) == nil && !report.Sidecar.Running && report.Sidecar.Since > 0
	})
	for _, command := range [][]string{{"status"}, {"queue"}, {"explain", own}, {"journal"}} {
		said, errs, _ := lab.Exec("alice", "", append([]string{"accordion"}, command...)...)
		if lines := strings.Split(said+errs, "\n"); len(lines) == 1 && strings.Contains(strings.ToLower(lines[0]), "running since") {
			away++
		} else {
			t.Errorf("accordion %v while the sidecar is away: %q", command, lines)
		}
	}
	late, said, err := lab.Sbatch("alice", "srun sleep 1", "-N1", "--comment=ep=1x60s,2x60s")
	if since := strings.Contains(said, "accordion: the sidecar is away since 20") && strings.Contains(said, ": the job waits until it is back"); err != nil || !since {
		t.Errorf("sbatch of a profile while the sidecar is away: job %s, %v, %q", late, err, said)
	}
	if _, said, err := lab.Exec("root", "", "accordion", "explain", late); err == nil || !strings.Contains(said, "job "+late+" is not known: the sidecar is away since 20") {
		t.Errorf("explain of a job that was submitted meanwhile: %v, %q", err, said)
	}
	if said := p.accordion("journal", "--job", own); !strings.Contains(said, "accepted") || away != 4 {
		t.Errorf("root reads in the journal meanwhile: %s", said)
	}
	lab.Run(t, "root", "scancel", own, other, late)
	p.start()
	if said := as("alice", "status"); !strings.Contains(said, "as of") {
		t.Errorf("after a start: %s", said)
	}
}
