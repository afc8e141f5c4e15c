package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The package of a newer version replaces the package of a running sidecar. Systemd restarts the sidecar. The new
// sidecar reads the journal of the old one. A job that the old sidecar started continues, grows and ends as
// promised.
//
// The old package is also built from this tree, unless -accordion.from names a folder of other packages: git
// worktree add EARLIER COMMIT; EARLIER/scripts/package FOLDER. Before the upgrade, the test runs setup on a
// terminal. After the upgrade, it makes the new sidecar hang.
func TestAnUpgradeBesideARunningJob(t *testing.T) {
	packagesOf(t, newer)
	if *from == "" {
		packagesOf(t, older)
	} else if err := os.CopyFS(filepath.Join(kept, "v1.0.0"), os.DirFS(*from)); err != nil {
		t.Fatal(err)
	}
	s := bootSite(t, "bookworm", kept)
	root := func(command string, seen ...string) {
		t.Helper()
		s.follows(act{root: true, command: command, seen: seen})
	}
	user := func(command string, seen ...string) { t.Helper(); s.follows(act{command: command, seen: seen}) }

	root("apt install ./v1.0.0/accordion_*.deb ./v1.0.0/accordion-controller_*.deb ./v1.0.0/accordion-slurm_*.deb")
	root("printf '0.0.0.0:6820\\n' | script -qec 'accordion setup slurm --dry-run --all' /dev/null | tr -d '\\r'", // the command `script` provides a terminal, which root's shell lacks here
		"Where do jobs on other hosts reach the sidecar (such as 0.0.0.0:6820; munge has to run there)? [none] …", "listen = \"0.0.0.0:6820\"")
	root("accordion setup slurm --listen none")
	root("printf 'JobSubmitPlugins=lua\\nSchedulerParameters=permit_job_expansion\\nBatchStartTimeout=65000\\n' >>/etc/slurm/slurm.conf; systemctl restart slurmctld")
	root("systemctl enable --now accordion.service")
	user("cat >job.sh <<'END'\n#!/bin/sh\n#EP 1x30s,3x10m\nsleep 25\neval \"$(accordion step)\"\nuntil [ -e seen ]; do sleep 0.2; done\nEND")
	user("sbatch job.sh", "Submitted batch job 1")
	user("accordion status", "1 ann job.sh evolving running 1/2 …")
	before, err := s.run("accordion journal --job 1")
	if err != nil || before == "" {
		t.Fatalf("of the job the journal has\n%s, error %v", before, err)
	}
	old, _ := s.run("systemctl show --property MainPID accordion.service")

	root("apt install ./v1.0.1/accordion_*.deb ./v1.0.1/accordion-controller_*.deb ./v1.0.1/accordion-slurm_*.deb")
	root("accordion --version", "… v1.0.1")
	root("systemctl is-active accordion.service", "active")
	if now, err := s.run("systemctl show --property MainPID accordion.service"); err != nil || now == old {
		t.Errorf("upgraded, the sidecar is still %s, error %v", now, err)
	}
	root("journalctl --unit accordion --no-pager", "… accordion serves: …v1.0.1 …", "… ready: … managed=1 …")
	user("squeue", "1 main job.sh ann R … 3 n…")
	user("touch seen")
	user("accordion explain 1", "… ended: after step 2 of 2")
	after, err := s.run("accordion journal --job 1")
	for line := range strings.Lines(before) {
		if strings.HasSuffix(line, ")\n") { // this is an action; its outcome may have been added later
			continue
		}
		if err != nil || !strings.Contains(after, line) {
			t.Errorf("the new version has of the job\n%s, error %v, and not what the old one had: %s", after, err, line)
		}
	}

	hangs(s)
}

// hangs stops the sidecar while a job runs. Systemd kills the sidecar and starts another one, and the job continues
// as promised.
func hangs(s *site) {
	s.Helper()
	root := func(command string, seen ...string) {
		s.Helper()
		s.follows(act{root: true, command: command, seen: seen})
	}
	root("mkdir -p /run/systemd/system/accordion.service.d; printf '[Service]\\nWatchdogSec=5\\nTimeoutAbortSec=1\\nRestartSec=1\\n' >/run/systemd/system/accordion.service.d/soon.conf")
	root("systemctl daemon-reload; systemctl restart accordion.service")
	said, err := s.as("ann", "sbatch job.sh")
	job, submitted := strings.CutPrefix(strings.TrimSpace(said), "Submitted batch job ") // Slurm has used numbers for expanders since the earlier job
	if err != nil || !submitted {
		s.Fatalf("sbatch job.sh: %v\n%s", err, said)
	}
	s.follows(act{command: "accordion status", seen: []string{job + " ann job.sh evolving running 1/2 …"}})
	root("systemctl kill --kill-whom=main --signal=STOP accordion.service")
	root("journalctl --unit accordion --no-pager", "… accordion.service: Watchdog timeout …", "… Scheduled restart job, restart counter is at 1.", "… ready: … managed=1 …")
	root("systemctl is-active accordion.service", "active")
	s.follows(act{command: "accordion explain " + job, seen: []string{"… ended: after step 2 of 2"}})
}
