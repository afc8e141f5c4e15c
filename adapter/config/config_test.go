package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/core/ep"
)

func TestTheExampleShowsEveryKeyWithItsDefault(t *testing.T) {
	got, err := Parse("example.toml", Example)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got); diff != "" {
		t.Errorf("the example differs from the defaults (-default +example):\n%s", diff)
	}
	section := ""
	shown := map[string]bool{}
	for line := range strings.Lines(Example) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		} else if key, _, ok := strings.Cut(line, " ="); ok && !strings.HasPrefix(line, "#") {
			shown[where(section, key)] = true
		}
	}
	for _, s := range settings {
		if !shown[where(s.section, s.key)] {
			t.Errorf("the example does not show %s", where(s.section, s.key))
		}
	}
	if len(shown) != len(settings) {
		t.Errorf("the example shows %d keys, there are %d", len(shown), len(settings))
	}
}

func TestDefaultsAreThemselvesValid(t *testing.T) {
	if c, err := Parse("empty.toml", ""); err != nil || cmp.Diff(Default(), c) != "" {
		t.Errorf("an empty file gives %+v, %v", c, err)
	}
}

func TestEveryKeyReachesItsOwnField(t *testing.T) {
	got, err := Parse("all.toml", `
cluster = "c1"
system = "embedded"
[slurm]
partition = "wide"
conf = "/e/slurm.conf"
bin = "/opt/slurm/bin"
timeout = "7s"
growth = "overlap"
manage = "all"
limits = "/e/limits.lua"
clients_per_minute = 50
[oar]
queue = "grow"
conf = "/e/oar.conf"
bin = "/opt/oar/bin"
timeout = "8s"
[embedded]
nodes = 7
pace = 3
[plan]
interval = "250ms"
rest = "7s"
policy = "repeated"
sizes = "load"
statistics = "/e/statistics.json"
algorithm = "infX+c"
expand_limit = 1.5
start_lead = "5s"
protect = 3
guard = "1m5s"
[overrun]
share = 1
least = "45s"
grace = "20s"
signal = "USR1"
[early]
advance = false
[silent]
notice = "3s"
signal = "B:USR2"
[limits]
unused = "2h"
half_life = "24h"
shortest_step = "4s"
resizes_per_hour = 70
[journal]
path = "/v/j.db"
keep = "24h"
[lease]
length = "90s"
[session]
socket = "/r/a.sock"
max_sessions = 9
listen = "[::1]:6820"
munge_socket = "/r/munge"
[log]
level = "debug"
format = "json"
events = "/l/events"
[metrics]
listen = "127.0.0.1:9820"
[web]
listen = "/r/web.sock"
names = "jobs.example.org,jobs"
private = true
`)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{Cluster: "c1", System: SystemEmbedded,
		Slurm:    Slurm{Partition: "wide", Conf: "/e/slurm.conf", Bin: "/opt/slurm/bin", Timeout: 7 * time.Second, Growth: "overlap", Manage: "all", Limits: "/e/limits.lua", Clients: 50},
		OAR:      OAR{Queue: "grow", Conf: "/e/oar.conf", Bin: "/opt/oar/bin", Timeout: 8 * time.Second},
		Embedded: Embedded{Nodes: 7, Pace: 3},
		Plan: Plan{Interval: 250 * time.Millisecond, Rest: 7 * time.Second, Policy: "repeated", Sizes: "load", Statistics: "/e/statistics.json", Algorithm: "infX+c", ExpandLimit: 3 * ep.NoExpansion / 2, StartLead: 5 * time.Second,
			Protect: 3, Guard: 65 * time.Second},
		Early:   Early{Advance: false},
		Overrun: Overrun{Share: 1, Least: 45 * time.Second, Grace: 20 * time.Second, Signal: "USR1"},
		Silent:  Silent{Notice: 3 * time.Second, Signal: "B:USR2"},
		Limits:  Limits{Unused: 2 * time.Hour, HalfLife: 24 * time.Hour, ShortestStep: 4 * time.Second, ResizesPerHour: 70},
		Journal: Journal{Path: "/v/j.db", Keep: 24 * time.Hour},
		Lease:   Lease{Length: 90 * time.Second},
		Session: Session{Socket: "/r/a.sock", MaxSessions: 9, Listen: "[::1]:6820", MungeSocket: "/r/munge"},
		Log:     Log{Level: "debug", Format: "json", Events: "/l/events"},
		Metrics: Metrics{Listen: "127.0.0.1:9820"},
		Web:     Web{Listen: "/r/web.sock", Names: "jobs.example.org,jobs", Private: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTablesMayBeWrittenInEveryWayOfTOML(t *testing.T) {
	want := Default()
	want.Log.Level = "warn"
	for _, text := range []string{"[log]\nlevel = \"warn\"", "log.level = \"warn\"", "log = {level = \"warn\"}", "[ 'log' ]\nlevel='warn'"} {
		if got, err := Parse("f.toml", text); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestMistakesAreReportedWithFileLineAndHint(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no unit", "[plan]\n\ninterval = \"10\"\n",
			`f.toml:3: [plan] interval = "10" is wrong: it must be a duration from 100ms to 1m0s, such as "1s"`},
		{"a bare number", "[plan]\ninterval = 10\n",
			`f.toml:2: [plan] interval = 10 is wrong: it must be a duration from 100ms to 1m0s, such as "1s"`},
		{"too short", "[slurm]\ntimeout = \"1ms\"\n",
			`f.toml:2: [slurm] timeout = "1ms" is wrong: it must be a duration from 1s to 5m0s, such as "10s"`},
		{"negative", "[overrun]\nleast = \"-3s\"",
			`f.toml:2: [overrun] least = "-3s" is wrong: it must be a duration from 0s to 24h0m0s, such as "30s"`},
		{"another algorithm", "[plan]\nalgorithm = \"rigid\"",
			`f.toml:2: [plan] algorithm = "rigid" is wrong: it must be noX, 2X, 2X+c, infX, infX+c, 2X+opt, infX+opt, or one with another limit, such as "1.5X"`},
		{"a policy that plans no live cluster", "[plan]\npolicy = \"easy\"", `f.toml:2: [plan] policy = "easy" is wrong: it must be "repeated", "easy-evolving" or "patient"; "patient:12h:x1" is patient with other parameters`},
		{"a policy that is misspelt", "[plan]\npolicy = \"pateint\"", `f.toml:2: [plan] policy = "pateint" is wrong: it must be "repeated", "easy-evolving" or "patient"; "patient:12h:x1" is patient with other parameters; did you mean patient?`},
		{"launchers beside a policy under which few have a place", "[plan]\npolicy = \"patient\"\n[delegate]\n",
			`f.toml:3: [delegate] does not go together with a policy under which most jobs have no place, such as easy-evolving and patient: leave it out, or plan the cluster by repeated`},
		{"sizes misspelt", "[plan]\n\nsizes = \"shar\"",
			`f.toml:3: [plan] sizes = "shar" is wrong: it must be "reference", "least", "earliest", "load" or "share"; did you mean share?`},
		{"sizes by no rule", "[plan]\nsizes = 8", `f.toml:2: [plan] sizes = 8 is wrong: it must be "reference", "least", "earliest", "load" or "share"`},
		{"statistics in some folder", "[plan]\nstatistics = \"s.json\"",
			`f.toml:2: [plan] statistics = "s.json" is wrong: it must be an absolute path, such as "/etc/accordion/statistics.json", or empty`},
		{"an algorithm below 1", "[plan]\nalgorithm = \"0.5X\"", `f.toml:2: [plan] algorithm = "0.5X" is wrong: it must be noX, 2X, 2X+c, infX, infX+c, 2X+opt, infX+opt, or one with another limit, such as "1.5X"`},
		{"an expand limit below 1", "[plan]\nexpand_limit = 0.5",
			`f.toml:2: [plan] expand_limit = 0.5 is wrong: it must be 0 (what the algorithm says), or 1 or more, such as 2 or 1.5, or "inf"`},
		{"not a number", "[overrun]\nshare = nan",
			`f.toml:2: [overrun] share = NaN is wrong: it must be a share from 0 to 10, such as 0.10`},
		{"a fraction of a job", "[plan]\nprotect = 1.5",
			`f.toml:2: [plan] protect = 1.5 is wrong: it must be a whole number from 0 to 1000`},
		{"a relative path", "[journal]\npath = \"j.db\"",
			`f.toml:2: [journal] path = "j.db" is wrong: it must be an absolute path, such as "/var/lib/accordion/journal.db"`},
		{"two partitions", "[slurm]\npartition = \"a,b\"",
			`f.toml:2: [slurm] partition = "a,b" is wrong: it must be one partition's name, such as "main"`},
		{"what is no queue", "[oar]\nqueue = \"evolve'; drop\"",
			`f.toml:2: [oar] queue = "evolve'; drop" is wrong: it must be one queue's name, such as "evolve"`},
		{"another batch system", "system = \"pbs\"",
			`f.toml:1: system = "pbs" is wrong: it must be "slurm", "oar" or "embedded"`},
		{"a list for a name", "cluster = [1, 2]",
			`f.toml:1: cluster = [1 2] is wrong: it must be a name without spaces, such as "slurm"`},
		{"a table for a name", "[slurm.partition]\nx = 1",
			`f.toml:1: [slurm] partition = a table is wrong: it must be one partition's name, such as "main"`},
		{"a name for a table", "\nslurm = \"main\"",
			`f.toml:2: slurm must be a table: write [slurm] on a line of its own`},
		{"a list of tables for a table", "[[log]]\nlevel = 1",
			`f.toml:1: log must be a table: write [log] on a line of its own`},
		{"a socket that no kernel takes", "[session]\nsocket = \"/" + strings.Repeat("x", 107) + "\"",
			`f.toml:2: [session] socket = "/` + strings.Repeat("x", 57) + `… is wrong: it must be an absolute path of at most 107 bytes, such as "/run/accordion/accordion.sock"`},
		{"an address without a port", "[session]\nlisten = \"0.0.0.0\"",
			`f.toml:2: [session] listen = "0.0.0.0" is wrong: it must be HOST:PORT, such as "0.0.0.0:6820" or ":6820", or empty`},
		{"a port that changes each time", "[session]\nlisten = \":0\"",
			`f.toml:2: [session] listen = ":0" is wrong: it must be HOST:PORT, such as "0.0.0.0:6820" or ":6820", or empty`},
		{"a port beyond all", "[session]\nlisten = \":65536\"",
			`f.toml:2: [session] listen = ":65536" is wrong: it must be HOST:PORT, such as "0.0.0.0:6820" or ":6820", or empty`},
		{"an address for metrics without a port", "[metrics]\nlisten = \"localhost\"",
			`f.toml:2: [metrics] listen = "localhost" is wrong: it must be HOST:PORT, such as "127.0.0.1:9820", or empty`},
		{"a page's address without a port", "[web]\nlisten = \"web.sock\"",
			`f.toml:2: [web] listen = "web.sock" is wrong: it must be HOST:PORT, such as "127.0.0.1:9821", or the absolute path of a Unix socket (at most 107 bytes), or empty`},
		{"a name with a port", "[web]\nnames = \"jobs.example.org:80\"",
			`f.toml:2: [web] names = "jobs.example.org:80" is wrong: it must be host names with commas between them, such as "jobs.example.org", or empty`},
		{"a relative path for events", "[log]\nevents = \"events\"",
			`f.toml:2: [log] events = "events" is wrong: it must be an absolute path, such as "/var/log/accordion/events.json", or empty`},
		{"an unknown key", "[log]\nlevl = \"info\"",
			`f.toml:2: [log] levl is unknown; the keys here are level, format, events`},
		{"a key in the wrong section", "[slurm]\ninterval = \"1s\"",
			`f.toml:2: [slurm] interval is unknown: interval belongs into [plan]`},
		{"a key of a section at the top", "interval = \"1s\"",
			`f.toml:1: interval is unknown: interval belongs into [plan]`},
		{"an unknown section", "[oarr]\nx = 1",
			`f.toml:1: oarr is unknown; the keys here are cluster, system, [slurm], [oar], [embedded], [plan], [overrun], [early], [silent], [limits], [journal], [lease], [session], [log], [metrics], [web]`},
		{"other case is another key", "[Log]\nlevel = \"info\"",
			`f.toml:1: Log is unknown; the keys here are cluster, system, [slurm], [oar], [embedded], [plan], [overrun], [early], [silent], [limits], [journal], [lease], [session], [log], [metrics], [web]`},
		{"the first of several", "[log]\nformat = \"xml\"\n[plan]\nprotect = -1\n[x]\n",
			`f.toml:2: [log] format = "xml" is wrong: it must be "text" or "json" (and 2 more)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.toml", c.text)
			if err == nil {
				t.Fatal("it was taken")
			}
			if err.Error() != c.want {
				t.Errorf("error:\n got %s\nwant %s", err, c.want)
			}
		})
	}
}

func TestAlgorithmsNameSetsTheExpansionLimitUnlessOneIsGiven(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "noX",
		`algorithm = "noX"`:       "noX",
		`algorithm = "2X"`:        "2X",
		`algorithm = "2X+c"`:      "2X+c",
		`algorithm = "2X+opt"`:    "2X+opt",
		`algorithm = "infX"`:      "infX",
		`algorithm = "infX+c"`:    "infX+c",
		`algorithm = "infX+opt"`:  "infX+opt",
		`algorithm = "1.13X+opt"`: "1.13X+opt",
		"algorithm = \"infX+c\"\nexpand_limit = 1.25": "1.25X+c",
		"algorithm = \"2X+opt\"\nexpand_limit = 1.13": "1.13X+opt",
		"algorithm = \"noX\"\nexpand_limit = \"inf\"": "infX",
		"algorithm = \"2X\"\nexpand_limit = 3":        "3X",
		"algorithm = \"2X\"\nexpand_limit = 0.0":      "2X",
	} {
		got, err := Parse("f.toml", "[plan]\n"+text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if a := got.Plan.Fit(); a.String() != want {
			t.Errorf("%s means %v, want %s", text, a, want)
		}
	}
}

func TestSyntaxErrorIsReportedWithItsLine(t *testing.T) {
	for _, text := range []string{"[plan\n", "x = ", "\n\n[log]\nlevel = info\n", "a = 1\na = 2", "a = \"\x00\"", "a = \"\xff\""} {
		_, err := Parse("f.toml", text)
		var e *Error
		if !errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") || e.What == "" ||
			strings.Contains(e.What, "\n") {
			t.Errorf("%q: error %#v, want one line with the place", text, err)
		}
	}
}

func TestFilesThatCannotBeReadAreNamed(t *testing.T) {
	folder := t.TempDir()
	long := filepath.Join(folder, "long.toml")
	if err := os.WriteFile(long, make([]byte, maxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, say := range map[string]string{
		filepath.Join(folder, "absent.toml"): "accordion config example",
		folder:                               "cannot be read",
		long:                                 "longer than 1 MiB",
	} {
		_, err := Load(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want an error that says %q", path, err, say)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", Example, "[plan]\ninterval = 1", "[slurm.partition]\nx=1", "a.b.c = 1", "[[log]]\nlevel=1",
		"log = {level = \"warn\"}", "[plan]\nguard = \"9999999999h\"", "\"\" = 1", "[session]\nmax_sessions = 9223372036854775807"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f.toml", text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "f.toml:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q: want one line that begins with the file", err)
			}
			return
		}
		// Whatever Parse accepts must be within the permitted ranges, so that the sidecar can run
		// with it.
		if c.Plan.Interval <= 0 || c.Slurm.Timeout <= 0 || c.Journal.Keep <= 0 || c.Plan.Guard < 0 || c.Session.MaxSessions < 1 ||
			!(c.Overrun.Share >= 0) || c.Plan.ExpandLimit < 0 || c.Journal.Path == "" {
			t.Errorf("taken: %+v", c)
		}
	})
}
