package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/internal/browser"
)

// An act of docs/start.md is a command with its output, or a visit to the page in a browser.
type act struct {
	part    string // the part of docs/start.md
	root    bool   // root runs it
	command string // "" means that the page is opened
	seen    []string
}

// acts reads docs/start.md. A line after "# " is a command of root, and a line after "$ " is a command of a user.
// The lines below a command are its output.
func acts(t *testing.T) (all []act) {
	t.Helper()
	text, err := os.ReadFile("../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	part, typing := "", false // typing is true in the text of a file that the reader types in, up to END
	for row := range strings.Lines(string(text)) {
		row = strings.TrimSuffix(row, "\n")
		line, block := strings.CutPrefix(row, "    ")
		last := len(all) - 1
		switch {
		case typing && block:
			all[last].command += "\n" + line
			typing = line != "END"
		case block && (strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "$ ")):
			all = append(all, act{part: part, root: line[0] == '#', command: line[2:]})
			typing = strings.HasSuffix(line, "<<'END'")
		case block:
			all[last].seen = append(all[last].seen, line)
		case strings.HasPrefix(row, "## "):
			part = row[3:]
		case strings.HasPrefix(row, "Open `http://"+webAddress+"/`"):
			all = append(all, act{part: part})
		}
	}
	return all
}

const webAddress = "127.0.0.1:9821"

// looks matches commands that change nothing. They are repeated until their output is as expected.
var looks = regexp.MustCompile(`^(squeue|cat [a-z]|journalctl|systemctl is-active|accordion (status|explain|preflight))`)

// missing returns the first line of `seen` that the output does not contain. "…" matches any text, and the number
// of blanks does not matter.
func missing(seen []string, out string) string {
	for _, line := range seen {
		words := strings.Fields(line)
		for i, w := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(w), "…", ".*")
		}
		if !regexp.MustCompile(`(?m)^[ \t]*` + strings.Join(words, `[ \t]+`) + `[ \t]*$`).MatchString(out) {
			return line
		}
	}
	return ""
}

// mostMinutes is the duration that docs/start.md promises.
const mostMinutes = 10

// TestTheFirstTenMinutes runs the commands of docs/start.md, word for word and in order, and checks their output.
// It runs them on a Debian with a small Slurm from Debian's own packages. At the end every file must be as before.
func TestTheFirstTenMinutes(t *testing.T) {
	packages := packagesOf(t, newer)
	suites := []string{"bookworm"}
	if *long {
		suites = append(suites, "trixie")
	}
	for _, suite := range suites {
		t.Run(suite, func(t *testing.T) { follow(t, bootSite(t, suite, packages.folder)) })
	}
}

func follow(t *testing.T, s *site) {
	before, err := s.run("/site/files")
	if err != nil || len(before) < 10_000 {
		t.Fatalf("the files: %v\n%s", err, before)
	}
	begin, booted := time.Now(), s.processors()
	part, since := "", begin
	told := func(next string) {
		if part != "" {
			t.Logf("%-22s %3.0f s", part, time.Since(since).Seconds())
		}
		part, since = next, time.Now()
	}
	for _, a := range acts(t) {
		if a.part != part {
			told(a.part)
		}
		if a.command == "" {
			s.open()
			continue
		}
		s.follows(a)
	}
	told("")
	took := time.Since(begin)
	t.Logf("in all %.0f s; processors: %.0f s for it, %.0f s to boot the site", took.Seconds(), (s.processors() - booted).Seconds(), booted.Seconds())
	if took > mostMinutes*time.Minute {
		t.Errorf("it took %v, want at most %d minutes", took, mostMinutes)
	}
	after, err := s.run("/site/files")
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n")); err != nil || diff != "" {
		t.Errorf("removed, the files are others (-before +after), error %v:\n%s", err, diff)
	}
}

// follows runs a command and checks that its output is that of the page.
func (s *site) follows(a act) {
	s.Helper()
	for until := time.Now().Add(90 * time.Second); ; time.Sleep(500 * time.Millisecond) { // a reader would also repeat the command
		var out string
		var err error
		if a.root {
			out, err = s.run(a.command)
		} else {
			out, err = s.as("ann", a.command)
		}
		lacks := missing(a.seen, out)
		if err == nil && lacks == "" {
			return
		}
		if !looks.MatchString(a.command) || time.Now().After(until) {
			log, _ := s.run("journalctl --no-pager --unit accordion --lines 20; accordion journal | tail -n 30")
			s.Fatalf("%s\nerror %v, not to be seen: %q\n%s\n%s", a.command, err, lacks, out, log)
		}
	}
}

// open opens the page in a browser, at the growing job and its profile.
func (s *site) open() {
	s.Helper()
	root := "http://" + s.reach(webAddress)
	b := browser.New(s.T, root)
	b.Go(root + "/")
	b.Await(`document.body.innerText.includes("first.sh") && Number(document.getElementById("gantt").dataset.rects) > 0`)
	b.Quiet()
	b.Go(root + "/job?id=1")
	b.Await(`document.querySelector("figure.profile path.held") !== null && document.querySelector("main").innerText.includes("first.sh")`)
	b.Quiet()
}

// Outputs that differ are found.
func TestWhatIsNotSeenIsMissed(t *testing.T) {
	out := "  JOBID  USER\n   1   ann   R  0:03  3 n[1-3]\n"
	for line, want := range map[string]bool{"1 ann R … 3 n…": false, "1 ann R … 1 n…": true, "ann": true, "JOBID USER": false} {
		if got := missing([]string{line}, out) != ""; got != want {
			t.Errorf("%q is missed: %v, want %v", line, got, want)
		}
	}
	all := acts(t)
	if len(all) < 20 || all[0].command != "apt install ./accordion_*.deb ./accordion-controller_*.deb ./accordion-slurm_*.deb" || !all[0].root {
		t.Errorf("docs/start.md is read as %d lines, %+v", len(all), all[0])
	}
	if !slices.ContainsFunc(all, func(a act) bool { return a.command == "" }) {
		t.Error("docs/start.md opens no page")
	}
}
