package job

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPartAsksItsSidecar(t *testing.T) {
	socket := inJob(t)
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, line := range []string{"part", "part --done=3"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if conn, err := l.Accept(); err == nil {
				conn.Close()
				cancel()
			}
		}()
		e := call(ctx, strings.Fields(line)...)
		if <-ctx.Done(); e.status == 0 || e.status == 2 || e.status == 99 {
			t.Errorf("%s: %+v", line, e)
		}
		cancel()
	}
}

func TestAProgramsPathIsWholeWhereverItWasStarted(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "accordion"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := os.Args[0]
	defer func() { os.Args[0] = before }()
	t.Setenv("PATH", folder)
	os.Args[0] = "accordion"
	if path, err := ourselves(); err != nil || path != filepath.Join(folder, "accordion") {
		t.Errorf("%s, %v", path, err)
	}
	t.Chdir(folder)
	os.Args[0] = "./accordion"
	if path, err := ourselves(); err != nil || path != filepath.Join(folder, "accordion") {
		t.Errorf("%s, %v", path, err)
	}
	inJob(t)
	os.Args[0] = "nothing-of-this-name"
	call(t.Context(), "part").is(t, 2, "(exit 2)", "nothing-of-this-name")
}

func TestAWrongCommandLineOfAPartHasTheStatusInItsText(t *testing.T) {
	inJob(t)
	for line, said := range map[string]string{
		"part now":              "takes no arguments, but there is \"now\"",
		"part --nonsense":       "unknown flag",
		"part --done=-1":        "--done: an exit status is 0 to 255",
		"part --done=256":       "--done: an exit status is 0 to 255",
		"part --done=something": "is not a whole number",
	} {
		call(t.Context(), strings.Fields(line)...).is(t, 2, "(exit 2)", said)
	}
	t.Setenv("SLURM_JOB_ID", "x")
	for _, line := range []string{"part", "part --done=0", "part --done=255"} {
		call(t.Context(), strings.Fields(line)...).is(t, 2, "(exit 2)", "is no job id")
	}
}
