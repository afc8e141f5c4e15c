package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"
)

// mistakes are wrong command lines that users type, with the exit status and the one line on standard error (…
// matches any text).
var mistakes = []struct {
	line   string
	status int
	says   string
}{
	// A word that is not a command, at every level of subcommands.
	{`ep chek 2x20m`, 2, `ep: unknown command "chek"; did you mean check?`},
	{`oar instal`, 2, `oar: unknown command "instal"; did you mean install?`},
	{`completion tcsh`, 2, `completion: unknown command "tcsh"; there are bash, fish, powershell, zsh`},
	{`setup slrum`, 2, `setup: unknown command "slrum"; did you mean slurm?`},
	{`config exampel`, 2, `config: unknown command "exampel"; did you mean example?`},
	{`trace infoo log.swf`, 2, `trace: unknown command "infoo"; did you mean info?`},
	{`paper evolvin`, 2, `paper: unknown command "evolvin"; did you mean evolving?`},
	{`limits rest ann`, 2, `limits: unknown command "rest"; did you mean reset?`},
	{`comapre log.swf`, 2, `unknown command "comapre"; did you mean compare?`},
	{`frobnicate`, 2, `unknown command "frobnicate"; see accordion --help`},
	{`help chek`, 2, `help: unknown command or topic "chek"; see accordion --help`},
	{`help ep chek`, 2, `help: unknown command or topic "chek"; did you mean check?`},
	{`ep chek --nodes 4 2x20m`, 2, `ep: unknown command "chek"; did you mean check?`},
	{`whatif`, 2, `unknown command "whatif"; did you mean advise?`},
	{`paper adaptive fig99`, 2, `paper adaptive: "fig99" is nothing that it makes; there are …, claims; did you mean fig9?`},

	// A flag that the command does not have.
	{`replay --polcy easy log.swf`, 2, `replay: unknown flag: --polcy; did you mean --policy?`},
	{`status --josn`, 2, `status: unknown flag: --josn; did you mean --json?`},
	{`preflight --tyr`, 2, `preflight: unknown flag: --tyr; did you mean --try?`},
	{`release-all --forc`, 2, `release-all: unknown flag: --forc; did you mean --force?`},
	{`compare -policy easy log.swf`, 2, `compare: unknown flag: -policy; did you mean --policy?`},
	{`step --kep n1`, 2, `step: unknown flag: --kep; did you mean --keep?`},
	{`--polcy`, 2, `unknown flag: --polcy; see accordion --help`},

	// A value that a flag does not accept.
	{`replay --nodes lots log.swf`, 2, `replay: --nodes: "lots" is not a whole number, such as 16`},
	{`advise --quantile much`, 2, `advise: --quantile: "much" is not a number, such as 0.9`},
	{`schedule --budget 2 x.json`, 2, `schedule: --budget: "2" is not a duration, such as 500ms, 2s or 1m30s`},
	{`watch --every soon`, 2, `watch: --every: "soon" is not a duration, such as 500ms, 2s or 1m30s`},
	{`journal --since tomorrow`, 2, `journal: --since: "tomorrow" is neither how long ago, such as 1h or 7d, nor an entry's id, such as 4711`},
	{`replay --nodes 0 log.swf`, 2, `--nodes: 0 is not 1 to 20000000`},
	{`replay --nodes 4 --machine 4 log.swf`, 2, `--nodes and --machine both say how large the machine is; give --nodes`},
	{`trace filter --status done log.swf`, 2, `filter: --status: "done" is not cancelled, completed, failed or a number of the format's`},
	{`trace filter --status cancled log.swf`, 2, `filter: --status: "cancled" is not …; did you mean cancelled?`},
	{`trace filter --user ann log.swf`, 2, `filter: --user: "ann" is no number; write a list such as 3,17`},
	{`queue -u`, 2, `queue: --user needs a value: only this user's jobs`},
	{`setup slurm --partition`, 2, `setup slurm: --partition needs a value: the partition that the sidecar manages (default: the only one)`},
	{`replay --policy esay log.swf`, 2, `policy "esay" is not one of …; did you mean easy?`},
	{`compare --policy easy,patien log.swf`, 2, `policy "patien" is not one of …; did you mean patient?`},
	{`replay --shape moutain --evolving 30% log.swf`, 2, `--shape: shape "moutain" is not one of …; did you mean mountain?`},
	{`replay --same peek --evolving 30% log.swf`, 2, `--same: "peek" is neither peak nor area; did you mean peak?`},
	{`replay --order sfj log.swf`, 2, `--order: order "sfj" is not one of fcfs, sjf, ljf; did you mean sjf?`},
	{`replay --estimates actul log.swf`, 2, `--estimates: …; did you mean actual?`},
	{`replay --curve tabel1 --moldable 10% log.swf`, 2, `--curve: curve "tabel1" is not one of table1, piecewise, downey; did you mean table1?`},
	{`replay --offer al --moldable 10% log.swf`, 2, `--offer: offer "al" is not one of all, three, powers; did you mean all?`},
	{`schedule --order lptt x.json`, 2, `schedule: --order "lptt" is not fcfs, area, lpt or search; did you mean lpt?`},
	{`trace generate --model lubin`, 2, `generate: --model "lubin" is neither benchmark nor lublin; did you mean lublin?`},

	// Outputs are checked before any work.
	{`demo -o absent/x.html`, 2, `write absent/x.html: there is no folder absent; make it first`},
	{`gantt -o absent/x.html nosuch.txt`, 2, `write absent/x.html: there is no folder absent; make it first`},
	{`advise --from nosuch.txt -o .`, 2, `write .: it is a folder or a device; name a file`},
	{`replay --csv log.swf/x.csv nosuch.swf`, 2, `write log.swf/x.csv: log.swf is not a folder`},
	{`replay -o log.swf nosuch.swf`, 2, `write into log.swf: log.swf is not a folder`},
	{`compare -o log.swf/x/y nosuch.swf`, 2, `write into log.swf/x/y: log.swf/x/y is not a folder`},
	{`trace convert nosuch.swf -o absent/x.swf`, 2, `write absent/x.swf: there is no folder absent; make it first`},
	{`paper adaptive -o log.swf`, 2, `write into log.swf: log.swf is not a folder`},

	// A host where nothing is set up, and missing files.
	{`status`, 2, notSetUp},
	{`queue`, 2, notSetUp},
	{`explain 1`, 2, notSetUp},
	{`journal`, 2, notSetUp},
	{`status --config absent.toml`, 2, `absent.toml: there is no such file; name one with --config or ACCORDION_CONFIG, or make it: accordion config example >FILE`},
	{`gantt`, 2, notSetUp},
	{`gantt --config one.toml`, 2, `gantt: the accounting has no jobs; pipe sacct into it, or name a file, as accordion gantt --help shows`},
	{`gantt nosuch.txt`, 2, `open nosuch.txt: no such file or directory`},
	{`explain one`, 2, `explain: "one" is not a job's number, such as 4711`},
	{`replay nosuch.swf`, 2, `read workload log: open nosuch.swf: no such file or directory`},
	{`advise --since yesterday`, 2, `advise: --since "yesterday" is no duration above 0: …`},
	{`demo --speed fast`, 2, `demo: --speed: "fast" is not a whole number, such as 16`},
	{`demo --speed 0`, 2, `speed 0: give 1 to 600 times the wall clock's`},
	{`launch`, 2, `launch: --model is missing: describe the application, such as --model '4x2h|8x70m'`},
	{`serve extra`, 2, `accordion serve takes no arguments, but there is "extra"`},

	// Wrong profiles.
	{`ep check 2x20`, 2, `evolution profile, column 3: "20" is not a duration above 0 …`},
	{`ep check '2x1h|'`, 2, `moldable configurations, column 6: "" is not NODESxDURATION, such as 5x500s or 10x1h30m`},
	{`ep check 'amdahl:p=2,t1=1h,nodes=1-4'`, 2, `moldable configurations, column 10: "2" is not a share from 0 to 1 …`},
	{`ep check '#EP:1x20s'`, 2, `evolution profile, column 1: "#EP:" is not how a request begins: write #EP 1x20s in a script, or ep=1x20s in a comment`},
	{`ep check '#MOLD:4x2h'`, 2, `moldable configurations, column 1: "#MOLD:" is not how a request begins: write #MOLD 4x2h in a script, or mold=4x2h in a comment`},
	{`ep check jobs/job.sh`, 2, `ep check: "jobs/job.sh" is neither a profile, such as 5x500s,10x1h, nor a script's file`},
	{`ep check`, 2, `ep check: nothing is on standard input: give one profile, such as 5x500s,10x1h, or a script`},
	{`ep check 2x20m extra`, 2, `ep check: give one profile, such as 5x500s,10x1h, or one script; there are 2 arguments`},
	{`ep check --nodes 4 5x1h`, 2, `evolution profile, column 1: "5x1h" is not within the machine's 4 nodes`},
}

// TestOldSpellingsOfFlagsGoOnWorking also checks that help lists each flag once.
func TestOldSpellingsOfFlagsGoOnWorking(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("ACCORDION_CONFIG", "")
	if err := os.WriteFile("log.swf", []byte(oneLog), 0o644); err != nil {
		t.Fatal(err)
	}
	for old, now := range map[string]string{
		"compare --policies easy,fcfs log.swf":                    "compare --policy easy --policy fcfs log.swf",
		"replay --policies fcfs log.swf":                          "replay --policy fcfs log.swf",
		"replay --machine 8 log.swf":                              "replay --nodes 8 log.swf",
		"replay --machine 16 --procs-per-node 4 log.swf":          "replay --nodes 4 --procs-per-node 4 log.swf",
		"trace info --machine 8 log.swf":                          "trace info --nodes 8 log.swf",
		"trace statistics --machine 8 --procs-per-node 2 log.swf": "trace statistics --nodes 4 --procs-per-node 2 log.swf",
		"advise --from log.swf --html page.html":                  "advise --from log.swf -o page.html",
		"paper adaptive fig8 --output x --seeds 0":                "paper adaptive fig8 --out x --seeds 0",
		"paper delegated fig8 --output x --seeds 0":               "paper delegated fig8 -o x --seeds 0",
	} {
		wantStatus, wantOut, wantSaid := typed(t, now)
		status, out, said := typed(t, old)
		if status != wantStatus || out != wantOut || said != wantSaid {
			t.Errorf("accordion %s: status %d, %q, %q\naccordion %s: status %d, %q, %q", old, status, out, said, now, wantStatus, wantOut, wantSaid)
		}
		words := strings.Fields(old)
		if _, help, _ := typed(t, strings.Join(words[:2], " ")+" --help"); strings.Contains(help, "--policies") || strings.Contains(help, "--machine") || strings.Contains(help, "--output") || strings.Contains(help, "--html") {
			t.Errorf("accordion %s --help names an old flag:\n%s", words[0], help)
		}
	}
}

// notSetUp is the message if there is no configuration.
const notSetUp = `this host has no Accordion: there is no /etc/accordion/accordion.toml; run this on the sidecar's host, …`

// oneLog is a workload log of two jobs, for commands that read one.
const oneLog = `; MaxProcs: 16
; UnixStartTime: 0
1 0 0 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1
2 10 0 100 8 -1 -1 8 200 -1 1 1 1 1 1 1 -1 -1
`

func TestAWrongCommandLineIsAnsweredInOneLine(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("log.swf", []byte(oneLog), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("one.toml", []byte("system = \"embedded\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, m := range mistakes {
		status, _, said := typed(t, m.line)
		if status != m.status || !pattern("accordion: "+m.says+"\n").MatchString(said) {
			t.Errorf("accordion %s\nstatus %d: %swant   %d: accordion: %s", m.line, status, said, m.status, m.says)
		}
	}
}

func TestAnInterruptedCommandSaysWhatWasDoneAndExitsWith130(t *testing.T) {
	site := fileOf(t, "testdata/script/advise-what-if.txtar", "site.txt")
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("log.swf", []byte(oneLog), 0o644), os.WriteFile("site.txt", site, 0o644)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for line, want := range map[string]struct{ out, said string }{
		"compare --policy easy,fcfs,patient log.swf":         {"log: 2 jobs on 16 nodes\ninterrupted: 0 of 3 policies done\n", "accordion: interrupted: 0 of 3 policies done\n"},
		"compare --policy easy,fcfs --shares 0%,50% log.swf": {"log: 2 jobs on 16 nodes; seed 1\ninterrupted: 0 of 2 replays of the log done\n", "accordion: interrupted: 0 of 2 replays of the log done\n"},
		"replay log.swf":                   {"", "accordion: interrupted\n"},
		"demo":                             {"…interrupted: 0 of 16 jobs have ended; accordion-demo.html was not written\n", "accordion: interrupted: 0 of 16 jobs have ended; accordion-demo.html was not written\n"},
		"paper evolving":                   {"interrupted: 0 of 1000 tests done\n", "accordion: interrupted: 0 of 1000 tests done\n"},
		"paper evolving --json":            {"", "accordion: interrupted: 0 of 1000 tests done\n"},
		"paper adaptive -o drawn":          {"interrupted: 0 of … workloads done\n", "accordion: interrupted: 0 of … workloads done\n"},
		"advise --from site.txt --what-if": {"…#EP 2x23m,4x33m,1x22m…interrupted: 0 of 4 replays of the jobs done\n", "accordion: interrupted: 0 of 4 replays of the jobs done\n"},
		"advise --from site.txt --what-if -o page.html": {"…#EP 2x23m,4x33m,1x22m…interrupted: 0 of 4 replays of the jobs done; page.html was not written\n", "accordion: interrupted: 0 of 4 replays of the jobs done; page.html was not written\n"},
		"advise --from site.txt --what-if --json":       {"", "accordion: interrupted: 0 of 4 replays of the jobs done\n"},
	} {
		status, out, said := typedIn(ctx, t, line)
		if status != 130 || !regexp.MustCompile("(?s)"+pattern(want.out).String()).MatchString(out) || !pattern(want.said).MatchString(said) {
			t.Errorf("accordion %s: status %d, %q, %q; want 130, %q, %q", line, status, out, said, want.out, want.said)
		}
	}
	for _, name := range []string{"accordion-demo.html", "page.html", "drawn"} {
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("%s was written: %v", name, err)
		}
	}
}

// typed runs a command line in this process. It splits words at blanks and quotes like a shell.
func typed(t *testing.T, line string) (status int, out, said string) {
	t.Helper()
	return typedIn(t.Context(), t, line)
}

// typedIn runs a command line with a context that may end.
func typedIn(ctx context.Context, t *testing.T, line string) (status int, out, said string) {
	t.Helper()
	words, err := shellquote.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	root := accordion()
	var stdout, stderr bytes.Buffer
	root.SetArgs(words)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	status = execute(ctx, root)
	return status, stdout.String(), stderr.String()
}

// pattern returns the regular expression for a text in which … stands for any text.
func pattern(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), "…", ".*") + "$")
}
