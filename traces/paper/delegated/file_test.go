package delegated_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/traces/paper/delegated"
)

const (
	head  = "kind,arrive,factor,d1,P,nmin,nmax,W,iterations,delay\n"
	three = head + "rigid,0,1.5,640,1,64,64,0,0,0\nmoldable,3,1.25,900,0.9,1,32,0,0,2\ncem,3,2,0,0,0,0,460800,100,1\n"
)

func TestAJobsFileIsReadAndWrittenBack(t *testing.T) {
	jobs, err := delegated.Read(strings.NewReader("# three of them\n\n"+three+"\n"), "jobs")
	if err != nil {
		t.Fatal(err)
	}
	want := []delegated.Job{
		{Kind: delegated.Rigid, Factor: 1.5, D1: 640, P: 1, Least: 64, Most: 64},
		{Kind: delegated.Moldable, Arrive: 3, Factor: 1.25, D1: 900, P: 0.9, Least: 1, Most: 32, Delay: 2},
		{Kind: delegated.CEM, Arrive: 3, Factor: 2, W: 460800, Iterations: 100, Delay: 1},
	}
	if d := cmp.Diff(want, jobs); d != "" {
		t.Error(d)
	}
	var b bytes.Buffer
	if err := delegated.Write(&b, jobs); err != nil {
		t.Fatal(err)
	}
	again, err := delegated.Read(&b, "jobs")
	if d := cmp.Diff(jobs, again); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestAWrongLineIsNamed(t *testing.T) {
	for line, want := range map[string]string{
		"rigid,0,1.5,640,1,64,64,0,0":                      "jobs:2: 9 fields: there must be 10",
		"rigit,0,1.5,640,1,64,64,0,0,0":                    `jobs:2: the kind is "rigit": it must be rigid, moldable or cem`,
		"rigid,-1,1.5,640,1,64,64,0,0,0":                   `jobs:2: arrive is "-1": it must be whole seconds from 0 to`,
		"rigid,1.5,1.5,640,1,64,64,0,0,0":                  `jobs:2: arrive is "1.5"`,
		"rigid,0,0.9,640,1,64,64,0,0,0":                    `jobs:2: factor is "0.9": it must be at least 1`,
		"rigid,0,NaN,640,1,64,64,0,0,0":                    `jobs:2: factor is "NaN"`,
		"rigid,0,+Inf,640,1,64,64,0,0,0":                   `jobs:2: factor is "+Inf"`,
		"rigid,0,1.5,0,1,64,64,0,0,0":                      `jobs:2: d1 is "0": it must be seconds above 0`,
		"moldable,0,1.5,640,1.1,1,64,0,0,0":                `jobs:2: P is "1.1": it must be a share from 0 to 1`,
		"moldable,0,1.5,640,0.5,0,64,0,0,0":                `jobs:2: nmin is "0": it must be whole hosts from 1 to 128`,
		"moldable,0,1.5,640,0.5,1,129,0,0,0":               `jobs:2: nmax is "129"`,
		"moldable,0,1.5,640,0.5,9,8,0,0,0":                 "jobs:2: nmin is 9 and nmax 8: nmin must not be more than nmax",
		"rigid,0,1.5,640,1,63,64,0,0,0":                    "jobs:2: a rigid job with other sizes than one: P must be 1, and nmin and nmax the same",
		"rigid,0,1.5,640,0.5,64,64,0,0,0":                  "jobs:2: a rigid job",
		"rigid,0,1.5,640,1,64,64,1,0,0":                    `jobs:2: W is "1": it must be 0 for all but cem`,
		"cem,0,1.5,0,0,1,0,5,0,0":                          `jobs:2: nmin is "1": it must be 0 for cem`,
		"rigid,0,1.5,640,1,64,64,0,3,0":                    `jobs:2: iterations is "3": it must be 0 for all but cem`,
		"rigid,0,1.5,640,1,64,64,0,0,-1":                   `jobs:2: delay is "-1": it must be whole seconds from 0 to`,
		"rigid,0,1.5,640,1,64,64,0,0,0,0":                  "jobs:2: 11 fields: there must be 10",
		"moldable,0,1.5,640,-0.5,1,64,0,0,0":               `jobs:2: P is "-0.5": it must be a share from 0 to 1`,
		"moldable,0,1.5,-640,0.5,1,64,0,0,0":               `jobs:2: d1 is "-640": it must be seconds above 0`,
		"moldable,0,1.5,640,0.5,1.5,64,0,0,0":              `jobs:2: nmin is "1.5": it must be whole hosts`,
		"cem,0,1.5,1,0,0,0,5,0,0":                          `jobs:2: d1 is "1": it must be 0 for cem`,
		"cem,0,1.5,0,0.5,0,0,5,0,0":                        `jobs:2: P is "0.5": it must be 0 for cem`,
		"cem,0,1.5,0,0,0,2,5,0,0":                          `jobs:2: nmax is "2": it must be 0 for cem`,
		"cem,0,1.5,0,0,0,0,NaN,0,0":                        `jobs:2: W is "NaN"`,
		"cem,0,1.5,0,0,0,0,5,Inf,0":                        `jobs:2: iterations is "Inf"`,
		"cem,0,1.5,0,0,0,0,0,0,0":                          `jobs:2: W is "0": it must be host-seconds above 0`,
		"cem,0,1.5,0,0,0,0,5,-1,0":                         `jobs:2: iterations is "-1": it must be at least 0`,
		"cem,0,1.5,0,0,0,0,5,1,x":                          `jobs:2: delay is "x"`,
		"cem,0,1.5,0,0,0,0,1e300,1,0":                      "jobs:2: the walltime may become 1.5e+300 s: it must be at most 315360000 s",
		"rigid,0,1.5,640,1,64,64,0,0,0\x80":                "jobs:2: bytes that are no text: write the file in UTF-8",
		`"rigid",0,1.5,640,1,64,64,0,0,0`:                  "jobs:2: the kind is",
		"rigid,5,1,1,1,1,1,0,0,0\nrigid,4,1,1,1,1,1,0,0,0": "jobs:3: it arrives at second 4, the job before it at 5",
	} {
		_, err := delegated.Read(strings.NewReader(head+line+"\n"), "jobs")
		if wrong := (*delegated.LineError)(nil); !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s…", line, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                       "jobs:1: the file ends: its first line must be kind",
		head:                     "jobs:2: the file ends: there must be at least one job",
		"# no header\nrigid,0\n": `jobs:2: the first line is "rigid,0"`,
		head + strings.Repeat("rigid,0,1,1,1,1,1,0,0,0\n", delegated.MaxJobs+1): "jobs:100002: one job too many",
		head + strings.Repeat("x", 1<<17):                                       "jobs:2: a line without end",
	} {
		if _, err := delegated.Read(strings.NewReader(text), "jobs"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s…", text, err, want)
		}
	}
}

// check checks that a file is refused with the number of the wrong line, or that its jobs run to their ends.
func check(t testing.TB, text []byte) {
	jobs, err := delegated.Read(bytes.NewReader(text), "jobs")
	if err != nil {
		if wrong := (*delegated.LineError)(nil); !errors.As(err, &wrong) || wrong.Line < 1 {
			t.Fatalf("%q: %v", text, err)
		}
		return
	}
	ended := 0
	setup := delegated.Setup{Clusters: 1 + len(text)%3, FairStart: 5, Timer: 1, Plain: len(text)%2 == 0, Ended: func(int, core.Time) { ended++ }}
	if _, err := setup.Run(jobs); err != nil || ended != len(jobs) {
		t.Fatalf("%q: %d of %d jobs ended: %v", text, ended, len(jobs), err)
	}
}

func TestAFileWithAnyByteChangedIsRefusedOrRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range three {
		for _, b := range []byte{'0', '9', ',', '.', '-', 'e', '\n', '#', ' ', 0, 0x80, byte(random.Uint32()), byte(random.Uint32())} {
			text := []byte(three)
			text[i] = b
			check(t, text)
		}
	}
}

func FuzzJobsFile(f *testing.F) {
	f.Add([]byte(three))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte{'\n'}) < 50 { // otherwise a run may take long
			check(t, text)
		}
	})
}

func TestASetupThatCannotBeIsRefused(t *testing.T) {
	jobs := []delegated.Job{{Kind: delegated.CEM, Factor: 1, W: 5}}
	for _, s := range []delegated.Setup{{}, {Clusters: 9}, {Clusters: 1, RMS: "pbs"}, {Clusters: 1, RMS: delegated.OAR}, {Clusters: 1, Timer: -1}, {Clusters: 1, FairStart: -1}} {
		if _, err := s.Run(jobs); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
