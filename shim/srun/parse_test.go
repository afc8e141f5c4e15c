package srun

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// site looks up an option on a cluster whose plug-ins add three options.
func site(name string) (Takes, bool) {
	takes, known := map[string]Takes{"ep": Value, "fast": Nothing, "tune": Perhaps}[name]
	return takes, known
}

func TestACommandLineIsReadAsSrunReadsIt(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "|",
		"hostname":                          "|hostname",
		"-n4 hostname":                      "--ntasks=4|hostname",
		"-n 4 hostname -n 5":                "--ntasks=4|hostname -n 5",
		"--ntasks=4 hostname":               "--ntasks=4|hostname",
		"--ntasks 4 hostname":               "--ntasks=4|hostname",
		"--ntasks= hostname":                "--ntasks=|hostname",
		"-lN2 hostname":                     "--label --nodes=2|hostname",
		"-luN 2-3 hostname":                 "--label --unbuffered --nodes=2-3|hostname",
		"-vvv a b":                          "--verbose --verbose --verbose|a b",
		"-K hostname":                       "--kill-on-bad-exit|hostname",
		"-K0 hostname":                      "--kill-on-bad-exit=0|hostname",
		"-K 0 hostname":                     "--kill-on-bad-exit|0 hostname",
		"--kill-on-bad-exit=0 a":            "--kill-on-bad-exit=0|a",
		"--exclusive a":                     "--exclusive|a",
		"--exclusive=user a":                "--exclusive=user|a",
		"-I5 -- -x":                         "--immediate=5|-x",
		"-- --nodes=2":                      "|--nodes=2",
		"-":                                 "|-",
		"- -n2":                             "|- -n2",
		"-o a=b --comment=x=y c":            "--output=a=b --comment=x=y|c",
		"--ntasks-per-n=2 a":                "--ntasks-per-node=2|a",
		"--lab a":                           "--label|a",
		"--tasks-per-node=2 a":              "--ntasks-per-node=2|a",
		"--cpu_bind=none a":                 "--cpu-bind=none|a",
		"--gpus-per-task 1 -c2 --mem=0 ./a": "--gpus-per-task=1 --cpus-per-task=2 --mem=0|./a",
		"--ep 2x1h --fast --tune a":         "--ep=2x1h --fast --tune|a",
		"-w -n2 a":                          "--nodelist=-n2|a",
	} {
		line, err := Parse(strings.Fields(text), site)
		var options []string
		for _, o := range line.Options {
			options = append(options, o.String())
		}
		if got := strings.Join(options, " ") + "|" + strings.Join(line.Program, " "); err != nil || got != want {
			t.Errorf("%q is read as %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAWrongCommandLineSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"--frobnicate a":   "srun has no option --frobnicate (srun --help lists them)",
		"-y a":             "srun has no option -y (srun --help lists them)",
		"-ly a":            "srun has no option -y (srun --help lists them)",
		"--ntasks":         "--ntasks needs a value",
		"-l -n":            "-n (--ntasks) needs a value",
		"--label=1 a":      "--label takes no value",
		"--fast=1 a":       "--fast takes no value",
		"--gpus-per=1 a":   "--gpus-per may be --gpus-per-node, --gpus-per-socket, --gpus-per-task: write it in full",
		"--=1":             "srun has no option -- (srun --help lists them)",
		"--nodes=2 --nod.": "srun has no option --nod. (srun --help lists them)",
	} {
		if line, err := Parse(strings.Fields(text), site); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v; want %q", text, line, err, want)
		}
	}
}

func TestTheLastOfAnOptionCounts(t *testing.T) {
	line, err := Parse([]string{"-n2", "-l", "--ntasks=3", "a"}, nil)
	if o, ok := line.Last("ntasks"); err != nil || !ok || o.Value != "3" {
		t.Errorf("%v, %v, %v", o, ok, err)
	}
	if o, ok := line.Last("nodes"); ok {
		t.Errorf("there is %v", o)
	}
}

func TestOptionsOfPluginsAreFoundInTheHelp(t *testing.T) {
	const help = `Usage: srun [OPTIONS(0)...
  -A, --account=name          charge job to specified account
      --compress[=library]    data compression library used with --bcast
  -l, --label                 prepend task number to lines of stdout/err
Options provided by plugins:
      --ep=PROFILE            evolution profile
      --ep-more
`
	for name, want := range map[string]struct {
		takes Takes
		known bool
	}{
		"account": {Value, true}, "compress": {Perhaps, true}, "label": {Nothing, true}, "ep": {Value, true}, "ep-more": {Nothing, true},
		"bcast": {}, "e": {}, "": {}, "ep.*": {}, "(": {},
	} {
		if takes, known := inHelp(help, name); takes != want.takes || known != want.known {
			t.Errorf("%s: %v, %v; want %v", name, takes, known, want)
		}
	}
}

// FuzzParse checks that a parsed line means the same after it is written out, and that no word of the program is lost.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"-lN2 a b", "--ntasks 4 a", "-K0 -- -x", "-w", "--exclusive=user", "-vvv", "--tune x", "- -"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, " ")
		line, err := Parse(words, site)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(text, "\n") {
				t.Fatalf("%q: an error of two lines: %v", text, err)
			}
			return
		}
		if len(line.Program) > len(words) || !cmp.Equal(line.Program, words[len(words)-len(line.Program):]) {
			t.Fatalf("%q: the program is %q", text, line.Program)
		}
		var again []string
		for _, o := range line.Options {
			again = append(again, o.String())
		}
		again = append(append(again, "--"), line.Program...)
		read, err := Parse(again, site)
		if err != nil || !cmp.Equal(read.Options, line.Options) || !cmp.Equal(read.Program, line.Program) {
			t.Fatalf("%q is %v, written %q, read as %v, %v", text, line, again, read, err)
		}
	})
}
