package job

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
	"accordion/traces/paper/delegated"
)

func TestAWrongCommandLineOfALaunchIsRefused(t *testing.T) {
	for _, c := range []struct {
		words []string
		said  string
	}{
		{[]string{"--", "sbatch", "job.sh"}, "launch: --model is missing: describe the application, such as --model '4x2h|8x70m'"},
		{[]string{"--model", "huge", "--", "sbatch", "job.sh"}, "launch: --model: "},
		{[]string{"--model", "4x2h", "--name", strings.Repeat("x", 65), "--", "sbatch", "job.sh"}, "--name has 65 bytes; at most 64 are allowed"},
		{[]string{"--model", "4x2h", "--most", "0s", "--", "sbatch", "job.sh"}, "--most: \"0s\" is not a duration above 0: write"},
		{[]string{"--model", "4x2h", "--most", "soon", "--", "sbatch", "job.sh"}, "--most: soon is not a duration above 0"},
		{[]string{"--model", "4x2h", "--on", "=sbatch job.sh"}, "names no cluster"},
		{[]string{"--model", "4x2h", "--on", "a=sbatch job.sh", "--on", "a=sbatch job.sh"}, "--on a is there twice"},
		{[]string{"--application", "jobs:2", "--model", "4x2h"}, "only --name and --connect can be combined with it"},
		{[]string{"--application", "jobs:2", "--most", "2h"}, "only --name and --connect can be combined with it"},
		{[]string{"--application", "jobs:2", "--on", "a"}, "only --name and --connect can be combined with it"},
		{[]string{"--application", "jobs:2", "sleep"}, "only --name and --connect can be combined with it"},
		{[]string{"--application", "jobs"}, "is not FILE:LINE"},
	} {
		e := call(t.Context(), append([]string{"launch"}, c.words...)...)
		said := strings.ReplaceAll(e.said, `"soon"`, "soon")
		if e.status != 2 || !strings.Contains(said, strings.ReplaceAll(c.said, `"soon"`, "soon")) {
			t.Errorf("%q: status %d, said %q, want %q", c.words, e.status, e.said, c.said)
		}
	}
}

func TestOptionsOfALaunchAreWhatItsFlagsSay(t *testing.T) {
	o, err := launchOptions("4x2h|8x70m", strings.Repeat("x", 64), "2h")
	if err != nil || o.Most != 7200 || len(o.Name) != 64 {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = launchOptions("4x2h", "", ""); err != nil || o.Most != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestTheSidecarOfALaunchIsWhereItsUserSays(t *testing.T) {
	t.Setenv("ACCORDION_SOCKET", "/run/mine")
	t.Setenv("ACCORDION_ADDRESS", "host:1")
	t.Setenv("ACCORDION_OTHER", "x")
	for to, want := range map[string][2]string{"": {"/run/mine", "host:1"}, "/run/s": {"/run/s", ""}, "./a:b": {"./a:b", ""}, "host:6820": {"", "host:6820"}, "here": {"here", ""}} {
		env := connecting(to)
		for i, name := range []string{"ACCORDION_SOCKET", "ACCORDION_ADDRESS"} {
			if got, set := env(name); got != want[i] || set != (want[i] != "") {
				t.Errorf("--connect %q: %s is %q, %t; want %q", to, name, got, set, want[i])
			}
		}
		if got, set := env("ACCORDION_OTHER"); got != "x" || !set {
			t.Errorf("--connect %q: another variable is %q", to, got)
		}
	}
}

// jobs writes a jobs file with applications in lines 2 to 5.
func jobs(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs")
	text := "kind,arrive,factor,d1,P,nmin,nmax,W,iterations,delay\nrigid,0,100,1200,1,6,6,0,0,0\nmoldable,1,100,900,0.9,1,32,0,0,0\ncem,2,100,0,0,0,0,7200,100,0\nrigid,3,100,1200,1,6,6,0,0,7\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestALaunchComesToTheSidecarAndIsWithdrawnByAnInterrupt(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, words := range [][]string{{"--model", "4x2h", "--on", "a=sbatch job.sh"}, {"--application", jobs(t) + ":2"}} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if conn, err := l.Accept(); err == nil {
				cancel()
				conn.Close()
			}
		}()
		e := call(ctx, append([]string{"launch", "--connect", socket}, words...)...)
		if <-ctx.Done(); e.status != 130 {
			t.Errorf("%q: %+v", words, e)
		}
		if used := strings.Contains(e.out, "s of processor time\n"); used != (words[0] == "--application") {
			t.Errorf("%q printed %q", words, e.out)
		}
	}
}

func TestAnApplicationOfAnExperimentIsALineOfAJobsFile(t *testing.T) {
	path := jobs(t)
	for at, said := range map[string]string{
		"jobs":               "is not FILE:LINE: name a jobs file",
		":2":                 "is not FILE:LINE",
		path + ":0":          "is not FILE:LINE",
		path + ":x":          "is not FILE:LINE",
		path + ":1":          "there is no job in this line: jobs are in lines 2 to 5",
		path + ":5":          "its delay is 7 s: only jobs without a delay can run here",
		"/nothing/there:2":   "--application: open /nothing/there",
		t.TempDir() + "/x:2": "no such file",
	} {
		if _, _, err := lineOptions(at, ""); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v, want %q", at, err, said)
		}
	}
	o, used, err := lineOptions(path+":2", "big")
	if err != nil || o.Name != "big" || o.Lasts([]moldable.Part{{Cluster: 0, Hosts: 6}}) != 200 {
		t.Fatalf("%+v, %v", o, err)
	}
	burn := func(least time.Duration) {
		for begin := processorTime(); processorTime() < begin+least.Seconds(); {
		}
	}
	burn(40 * time.Millisecond)
	o.Welcomed()
	before := processorTime()
	burn(20 * time.Millisecond)
	var out bytes.Buffer
	used(&out)
	passed := processorTime() - before
	var seconds float64
	if _, err := scan(out.String(), &seconds); err != nil || seconds < 0.02 || seconds > passed+0.01 {
		t.Errorf("%q, %v, while %.3f s were used", out.String(), err, passed)
	}
}

func scan(text string, seconds *float64) (int, error) {
	word, found := strings.CutPrefix(text, "used ")
	if !found || !strings.HasSuffix(word, " s of processor time\n") {
		return 0, errors.New("another line")
	}
	d, err := time.ParseDuration(strings.TrimSuffix(word, " s of processor time\n") + "s")
	*seconds = d.Seconds()
	return 1, err
}

func TestAnApplicationOfAnExperimentChoosesOfTheClustersThatItSees(t *testing.T) {
	seen := func(c, hosts int) selector.Seen {
		return selector.Seen{Cluster: launcher.Cluster{C: c, Hosts: hosts}, Points: []profile.Point{}}
	}
	c := &lineChooser{job: delegated.Job{Kind: delegated.Rigid, Factor: 2, D1: 1200, P: 1, Least: 6, Most: 6}}
	answer, err := c.Choose(selector.Sight{Now: 100, Clusters: []selector.Seen{seen(0, 4), seen(1, 8)}}, 0)
	if err != nil || len(answer.Hosts) != 1 || answer.Hosts[0] != (moldable.Part{Cluster: 1, Hosts: 6}) || answer.Walltime == 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	before := c.launcher
	again, err := c.Choose(selector.Sight{Now: 101, Clusters: []selector.Seen{seen(0, 4), seen(1, 8)}}, 0)
	if err != nil || !again.Same(answer) || c.launcher != before || c.clusters != 2 {
		t.Errorf("%+v, %v, for %d clusters", again, err, c.clusters)
	}
	answer.Hosts[0].Hosts = 99 // the caller may change the answer
	if _, err := c.Choose(selector.Sight{Now: 102, Clusters: []selector.Seen{seen(0, 6), seen(1, 8), seen(2, 8)}}, 0); err != nil || c.launcher == before || c.clusters != 3 {
		t.Errorf("another cluster came: %v, for %d clusters", err, c.clusters)
	}
	for _, few := range [][]selector.Seen{nil, {seen(0, 5)}, {seen(1, 5)}} {
		if _, err := c.Choose(selector.Sight{Now: 103, Clusters: few}, 0); !errors.Is(err, errNowhere) {
			t.Errorf("on %v: %v", few, err)
		}
	}
	if _, err := c.Choose(selector.Sight{Clusters: []selector.Seen{seen(7, 8)}}, 0); err != nil {
		t.Errorf("the eighth cluster: %v", err)
	}
	if _, err := c.Choose(selector.Sight{Clusters: []selector.Seen{seen(8, 8)}}, 0); err == nil || !strings.Contains(err.Error(), "there are 9 clusters: such an application supports 8") {
		t.Errorf("a ninth cluster: %v", err)
	}
}
