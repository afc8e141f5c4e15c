package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// found are inputs on which a command once failed, each in testdata/found/NAME, retyped from public reports and files.
// A row says what is right. Rows in which want is the whole of standard output compare it as it is; pieces are looked
// for in standard output and standard error together, in any order.
var found = []struct {
	name    string // of the folder
	command string // after "accordion", in that folder
	status  int
	want    string   // the whole of standard output; "": not compared
	pieces  []string // each is in what the command writes
	absent  []string // none of these is
}{
	{
		// TotalCPU is the sum over all processors: 4,000 days of it are 22 hours of 4,096 processors.
		name: "01-totalcpu-10y", command: "trace from-sacct --machine 9216 --zone UTC sacct.txt",
		pieces: []string{"accordion: 2 jobs, 0 of them evolving\n", "; MaxProcs: 9216\n",
			"  501        0     10  86400 4096 84377.84350585938 ", "  502      100     10     60    4     50 "},
		absent: []string{"left out", "cannot be read"},
	},
	{
		name: "02-newline-jobname-import", command: "trace from-sacct --machine 64 --zone UTC sacct.txt",
		pieces: []string{"accordion: 2 jobs, 0 of them evolving\n", "  601        0     10     60    4 ", "  602      100     10     60    4 ",
			"accordion: warning: 1 line cannot be read, left out: sacct.txt:3: "},
	},
	{
		// A summary line, and a line for each of its two bursts: one job.
		name: "05-swf-partial-lines", command: "replay --csv - log.swf",
		want: `job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources
1,log,0,50,60,1,0,30,30,0,30,1.000000,-1,0-49
2,log,5,50,60,1,5,10,15,0,10,1.000000,-1,50-99
`,
	},
	{name: "06-swf-indented-header", command: "replay log.swf", pieces: []string{"log: 1 job on 1024 nodes\n"}},
	{name: "06-swf-indented-header", command: "replay tab.swf", pieces: []string{"tab: 1 job on 1024 nodes\n"}},
	{
		// A mark of the byte order at the beginning, from an editor or PowerShell.
		name: "09-bom-sacct", command: "trace from-sacct --machine 64 --zone UTC sacct.txt",
		pieces: []string{"accordion: 1 jobs, 0 of them evolving\n", "  701        0     10     60    4     50 "},
		absent: []string{"left out", "cannot be read"},
	},
}

// TestInputsThatFailedOnceAreReadRight runs the commands of the table found.
func TestInputsThatFailedOnceAreReadRight(t *testing.T) {
	program, err := exec.LookPath("accordion")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found {
		t.Run(row.name+"/"+row.command, func(t *testing.T) {
			var out, complaints strings.Builder
			c := exec.CommandContext(t.Context(), program, strings.Fields(row.command)...)
			c.Dir = filepath.Join("testdata", "found", row.name)
			c.Env = append(os.Environ(), "TZ=UTC")
			c.Stdout, c.Stderr = &out, &complaints
			var exit *exec.ExitError
			if err := c.Run(); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if status := c.ProcessState.ExitCode(); status != row.status {
				t.Errorf("exit status %d, want %d", status, row.status)
			}
			if row.want != "" && out.String() != row.want {
				t.Errorf("standard output:\n%s\nwant:\n%s", &out, row.want)
			}
			all := out.String() + complaints.String()
			for _, piece := range row.pieces {
				if !strings.Contains(all, piece) {
					t.Errorf("no %q in:\n%s", piece, all)
				}
			}
			for _, piece := range row.absent {
				if strings.Contains(all, piece) {
					t.Errorf("there is %q in:\n%s", piece, all)
				}
			}
		})
	}
}
