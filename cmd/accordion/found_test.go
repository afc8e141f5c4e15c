package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// found lists inputs for which a command once failed. Each is in testdata/found/NAME, copied by hand from public reports and files. Each
// row has the correct result. If `want` is set, it is the whole standard output. Each of `pieces` must occur in standard output or standard
// error, in any order.
var found = []row{
	{
		// TotalCPU is summed over all processors. A TotalCPU of 4,000 days is about 23 hours on 4,096 processors.
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
		// A summary line, followed by a line for each of the job's two partial executions, describes one job.
		name: "05-swf-partial-lines", command: "replay --csv - log.swf",
		want: `job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources
1,log,0,50,60,1,0,30,30,0,30,1.000000,-1,0-49
2,log,5,50,60,1,5,10,15,0,10,1.000000,-1,50-99
`,
	},
	{name: "06-swf-indented-header", command: "replay log.swf", pieces: []string{"log: 1 job on 1024 nodes\n"}},
	{name: "06-swf-indented-header", command: "replay tab.swf", pieces: []string{"tab: 1 job on 1024 nodes\n"}},
	// sacct without --noconvert writes 2K for 2,048 nodes.
	{name: "08-reqnodes-K", command: "advise --from sacct.txt", pieces: []string{" ua   │ mesh_# │  2048 │    9 │", "│ #EP 1x37m,2048x37m"}, absent: []string{"cannot be read"}},
	{name: "08-reqnodes-K", command: "advise --from frac.txt", pieces: []string{" ua   │ mesh_# │  1536 │    9 │", "│ #EP 1x37m,1536x37m"}, absent: []string{"cannot be read"}},
	{
		// An editor or PowerShell has written a byte order mark at the beginning.
		name: "09-bom-sacct", command: "trace from-sacct --machine 64 --zone UTC sacct.txt",
		pieces: []string{"accordion: 1 jobs, 0 of them evolving\n", "  701        0     10     60    4     50 "},
		absent: []string{"left out", "cannot be read"},
	},
	// Forms of a profile in a script or a comment. Tests in slurm and oar check what sbatch and oarsub answer.
	{name: "21-ep-line-forms", command: "ep check #EP:1x20s,2x20s", status: 2, pieces: []string{"write #EP 1x20s,2x20s in a script, or ep=1x20s,2x20s in a comment"}},
	{name: "21-ep-line-forms", command: "ep check #EP=1x20s,2x20s", status: 2, pieces: []string{"write #EP 1x20s,2x20s in a script"}},
	{name: "21-ep-line-forms", command: "ep check ep=1x20s,2x20s", pieces: []string{"1x20s,2x20s: 2 steps, 40s, at most 2 nodes."}},
	{name: "wide", command: "advise --from sacct.txt", pieces: []string{"#EP 1x37m,16x37m", "mesh_wwww", "www… "}, widest: 250},

	// Inputs that other programs failed on, from public reports.

	// Like 01: statistics that are not numbers.
	//
	// https://github.com/neilmunday/slurm-mail/issues/58: TimelimitRaw is Partition_Limit and Start is None.
	imported("slurm-mail-58.txt", "  701        0     -1      0   -1     -1    -1    4     -1 ", job702),
	// https://github.com/NordicHPC/slurm2sql/issues/5: the time limit UNLIMITED.
	imported("slurm2sql-5.txt", "  701        0     10     60    4     50    -1    4     -1 ", job702),
	// https://github.com/apel/apel/issues/160, /pull/153: each form of TotalCPU, and a negative one.
	imported("apel-160.txt", "  701        0     10  86400    4  44474 ", "  703        0     10     60    4    900 ", "  704        0     10     60    4 9.21425 ",
		"  705        0     10     60    4     -1 ", job702, `warning: 1 value cannot be read, taken as unknown: apel-160.txt:5: TotalCPU: "-0:00:16"`),

	// Lines that are not complete accounting rows.
	//
	// https://github.com/ubccr/xdmod/pull/1088: output of sacct -p with a job name that ends in a line end.
	imported("xdmod-1088.txt", job701, job702, "warning: 1 line cannot be read, left out: xdmod-1088.txt:3: "),
	// https://github.com/ubccr/xdmod/pull/1525: empty lines.
	imported("xdmod-1525.txt", job701, job702),
	// https://github.com/troycomi/reportseff/issues/63: a SubmitLine of two lines, in the middle of its row.
	imported("reportseff-63.txt", "  702        0     10     60    4     50 ", "warning: 2 lines cannot be read, left out: reportseff-63.txt:2: 15 fields for 16 columns\n"),
	// https://github.com/eth-cscs/firecrest-v2/issues/148: a separator in a job's name, and one in the name of a folder in an earlier column.
	imported("firecrest-148.txt", job701, "  703        0     10     60    4     50 ", job702),
	// https://github.com/tgen/jetstream/issues/72: an error message of sacct among the rows.
	imported("jetstream-72.txt", job701, job702, "warning: 1 line cannot be read, left out: jetstream-72.txt:3: "),
	// https://github.com/ALU-Schumacher/AUDITOR/issues/1976: steps without a user, and 4294967294 for a missing time.
	imported("auditor-1976.txt", job701, job702),

	// Like 09: encodings of editors and other systems, and compression.
	//
	// https://github.com/pandas-dev/pandas/issues/4793: a byte order mark, and CR LF.
	imported("pandas-4793.txt", job701, job702),
	// https://github.com/biolab/orange3/issues/7000: one file with two outputs of sacct, each with a byte order mark.
	imported("orange3-7000.txt", job701, job702),
	// https://github.com/wonderwhy-er/DesktopCommanderMCP/issues/610: Windows PowerShell writes UTF-16.
	refused("desktopcommander-610.txt", "read desktopcommander-610.txt: it is text in UTF-16, which is not read here; convert it first, as in: iconv -f UTF-16 -t UTF-8 FILE"),
	// https://github.com/adaptivecomputing/torque/issues/354: accounting that logrotate compressed.
	imported("torque-354.txt.gz", "  702        0     10     60    4     50 "),
	// https://github.com/1a1a11a/libCacheSim/issues/161: a trace that was compressed by another program than gzip.
	imported("libcachesim-161.txt.bz2", "  702        0     10     60    4     50 "),
	// https://github.com/fasrc/hpc_sustainability_dataset: accounting of Slurm compressed by xz.
	refused("fasrc-dataset.txt.xz", "read fasrc-dataset.txt.xz: it is compressed by xz, which is not read here; convert it first, as in: xz -dc FILE"),

	// Times and clusters.
	// https://github.com/eomnl/sas-jobmon/issues/6: the night in which clocks are set back. Job 702 ran for three
	// hours.
	{
		name: "reports", command: "trace from-sacct --machine 64 --zone Europe/Paris sas-jobmon-6.txt",
		pieces: []string{"  702        0    600  10800    4 ", "  701     1800   4800   1800    4 ", "warning: 2 times may be either of two hours as daylight saving time ends"},
	},
	// https://github.com/ceems-dev/ceems/issues/432: times with an offset, and without.
	imported("ceems-432.txt", job701, job702),
	// https://github.com/reframe-hpc/reframe/issues/3559: jobs of several clusters with the same job numbers.
	imported("reframe-3559.txt", "    1        0     10     60    4 ", "    2       50     10     60    4 ", "; Partition: 2 beta/main\n", "the accounting is of 2 clusters (alpha, beta)"),
	// https://github.com/aws/aws-parallelcluster/issues/6362: a new cluster with the name of the old one, whose job
	// numbers start at 1 again.
	imported("parallelcluster-6362.txt", "    1        0     10     60    4 ", "    2   100000     10     60    4 "),

	// Like 05: lines that are parts of a job, and lines that look like parts.
	//
	// https://www.cs.huji.ac.il/labs/parallel/workload/swf.html: a summary, then each partial execution.
	replayed("definition.swf", "definition: 3 jobs on 64 nodes; left out 4: 4 that are parts of the job above them\n"),
	// https://www.cs.huji.ac.il/labs/parallel/workload/l_sandia_ross: exit codes in the status field.
	replayed("sandia-ross.swf", "sandia-ross: 4 jobs on 64 nodes\n"),
	// https://github.com/oar-team/oar3/pull/1: oar2trace wrote the line of a completed job twice. The log does not
	// show that both lines describe one job.
	replayed("oar3-1.swf", "oar3-1: 3 jobs on 8 nodes\n"),
	{name: "reports", command: "trace check oar3-1.swf", status: 1, pieces: []string{"jobs whose number another job has: 1, first job 21, the 2nd of the log\n"}},
	replayed("no-summary.swf", "no-summary: 2 jobs on 64 nodes; left out 1: 1 that are parts of the job above them\n"),

	// Like 06: headers.
	//
	// https://github.com/aleasimulator/alea, Alea/data-set/FIT/jaros2.swf: a header line of field names, 20 fields,
	// and jobs that depend on several other jobs.
	replayed("alea-jaros.swf", "alea-jaros: 2 jobs on 16 nodes\n", "lines that are no jobs, left out: 1"),
	// https://github.com/aleasimulator/alea, Alea/data-set/wagap-2013.swf: 21 fields, and submission times in Unix
	// time.
	replayed("alea-wagap.swf", "alea-wagap: 2 jobs on 64 nodes\n"),
	// https://github.com/oar-team/evalys, tests/easy_mediumWL_smallPF.swf: fractions of seconds, -0.0.
	replayed("evalys-easy.swf", "evalys-easy: 2 jobs on 8 nodes\n"),
	// A published conversion of https://dcc.mit.edu/data to SWF. It has UNKNOWN for unknown values, and a note of several lines with
	// colons.
	replayed("supercloud.swf", "supercloud: 1 job on 23040 nodes\n"),
	// A generated log, like https://www.cs.huji.ac.il/labs/parallel/workload/l_nasa_ipsc, whose header has the name of a time zone instead
	// of its offset.
	{name: "reports", command: "trace info ipsc-generated.swf", pieces: []string{"machine      128 processors\n", "submitted    1993-10-05 18:00:00 PDT"}},
	// https://www.cs.huji.ac.il/labs/parallel/workload/l_ctc_sp2: a header line with a remark after the number. In this file the header
	// line is also indented.
	replayed("indented-reader.swf", "indented-reader: 1 job on 338 nodes\n"),
}

// job701 and job702 are the lines that the import must print for the two jobs of most reports.
const (
	job701 = "  701        0     10     60    4     50 "
	job702 = "  702      100     10     60    4     50 "
)

// row is a row of found.
type row struct {
	name    string // name of the folder
	command string // arguments of "accordion", run in that folder
	status  int
	want    string   // the whole standard output; "" if not compared
	pieces  []string // each must occur in the output
	absent  []string // none may occur in the output
	widest  int      // most characters of a line of standard output; 0 means any
}

// imported returns a row for a file of Slurm's accounting in testdata/found/reports.
func imported(file string, pieces ...string) row {
	return row{name: "reports", command: "trace from-sacct --machine 64 --zone UTC " + file, pieces: pieces}
}

// refused returns a row for an unreadable file of Slurm's accounting in testdata/found/reports.
func refused(file, why string) row {
	return row{name: "reports", command: "trace from-sacct --machine 64 " + file, status: 2, pieces: []string{"accordion: " + why + "\n"}}
}

// replayed returns a row for a workload log in testdata/found/reports.
func replayed(file string, pieces ...string) row {
	return row{name: "reports", command: "replay " + file, pieces: pieces}
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
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(line); row.widest > 0 && n > row.widest {
					t.Errorf("a line of %d characters: %s", n, line)
				}
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
