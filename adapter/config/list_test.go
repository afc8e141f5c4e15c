package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// apart returns a configuration that differs from those for other paths in every setting that must
// differ between clusters. For a path such as "/named/a", the cluster's name is "a".
func apart(path string) (Config, error) {
	c := Default()
	c.Journal.Path, c.Session.Socket = path+".db", path+".sock"
	if name, ok := strings.CutPrefix(path, "/named/"); ok {
		c.Cluster = name
	}
	if strings.HasPrefix(path, "/launchers/") {
		c.Delegate = new(DefaultDelegate())
	}
	if strings.HasSuffix(path, "/patient") {
		c.Plan.Policy = "patient"
	}
	return c, nil
}

func TestTheExampleOfAListShowsEveryKey(t *testing.T) {
	got, err := ParseClusters("list.toml", ExampleList, apart)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.All) != 2 || len(got.Links) != 1 || got.Links[0].Latency != DefaultLatency {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(new(DefaultDelegate()), got.Delegate); diff != "" {
		t.Errorf("the example differs from the defaults (-default +example):\n%s", diff)
	}
	for _, s := range delegateKeys {
		if !strings.Contains(ExampleList, "\n"+s.key+" = ") {
			t.Errorf("the example does not show [delegate] %s", s.key)
		}
	}
	for _, key := range keysOf(clusterKeys, linkKeys) {
		if !strings.Contains(ExampleList, "\n"+key+" = ") {
			t.Errorf("the example does not show %s", key)
		}
	}
}

func TestClustersThatAreServedTogetherHaveOneClock(t *testing.T) {
	paces := map[string]string{"/a": "system = \"embedded\"\n[embedded]\npace = 10", "/b": "system = \"embedded\"\n[embedded]\npace = 10", "/c": ""}
	load := func(path string) (Config, error) {
		c, err := Parse(path, paces[path])
		c.Journal.Path, c.Session.Socket = path+".db", path+".sock"
		return c, err
	}
	if _, err := ParseClusters("l.toml", "[[cluster]]\nconfig = \"/a\"\n[[cluster]]\nconfig = \"/b\"\n", load); err != nil {
		t.Error(err)
	}
	_, err := ParseClusters("l.toml", "[[cluster]]\nconfig = \"/a\"\n[[cluster]]\nconfig = \"/c\"\n", load)
	if want := "l.toml:3: [embedded] pace of /c comes to 1, and that of /a to 10: clusters that are served together have one clock"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func keysOf(clusters table[Member], links table[Link]) (all []string) {
	for _, s := range clusters {
		all = append(all, s.key)
	}
	for _, s := range links {
		all = append(all, s.key)
	}
	return all
}

func TestAListNamesClustersAndLinks(t *testing.T) {
	got, err := ParseClusters("list.toml", `
[[cluster]]
config = "/named/first"
name = "a"
speed = 1.5
site = "lyon"
attrs = { fabric = "ib", gpu = "none" }
[[cluster]]
config = "/named/b"
[[cluster]]
config = "/c.toml"
site = "lyon"
[cluster.attrs]
fabric = "eth"
[[link]]
between = ["lyon", "b"]
latency = "5ms"
bandwidth = 10000
[[link]]
between = ["lyon", "lyon"]
`, apart)
	if err != nil {
		t.Fatal(err)
	}
	as := func(path, name string) Config {
		c, _ := apart(path)
		c.Cluster = name
		return c
	}
	want := Clusters{
		All: []Member{
			{Config: as("/named/first", "a"), File: "/named/first", Speed: 1.5, Site: "lyon", Attrs: map[string]string{"fabric": "ib", "gpu": "none"}},
			{Config: as("/named/b", "b"), File: "/named/b", Speed: 1},
			{Config: as("/c.toml", ""), File: "/c.toml", Speed: 1, Site: "lyon", Attrs: map[string]string{"fabric": "eth"}},
		},
		Links: []Link{
			{Between: [2]string{"lyon", "b"}, Latency: 5 * time.Millisecond, Bandwidth: 10000},
			{Between: [2]string{"lyon", "lyon"}, Latency: 50 * time.Millisecond},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Member{}, Link{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheFileOfOneClusterIsAListOfOne(t *testing.T) {
	got, err := ParseClusters("one.toml", "cluster = \"c1\"\nsystem = \"embedded\"", apart)
	want := Default()
	want.Cluster, want.System = "c1", SystemEmbedded
	if diff := cmp.Diff(Clusters{All: []Member{{Config: want, File: "one.toml", Speed: 1}}}, got, cmpopts.IgnoreUnexported(Member{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestMistakesInAListAreReportedWithTheirLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no file", "[[cluster]]\nname = \"a\"\n[[cluster]]\nconfig = \"/b.toml\"\n", `list.toml:1: [[cluster]] has no config: name its file, such as config = "/etc/accordion/a.toml"`},
		{"a relative path", "[[cluster]]\nconfig = \"/a.toml\"\n[[cluster]]\n\nconfig = \"b.toml\"",
			`list.toml:5: [[cluster]] config = "b.toml" is wrong: it must be the absolute path of a cluster's configuration, such as "/etc/accordion/a.toml"`},
		{"the second of three", "[[cluster]]\nconfig = \"/a\"\nspeed = 1\n[[cluster]]\nconfig = \"/b\"\nspeed = 0\n[[cluster]]\nconfig = \"/c\"\nspeed = 2",
			`list.toml:6: [[cluster]] speed = 0 is wrong: it must be a number above 0, at most 1000, such as 1.1`},
		{"two mistakes", "[[cluster]]\nconfig = \"/a\"\nspeed = 0\nsite = 7", `list.toml:3: [[cluster]] speed = 0 is wrong: it must be a number above 0, at most 1000, such as 1.1 (and 1 more)`},
		{"a key that is unknown", "[[cluster]]\nconfig = \"/a\"\nsped = 2", `list.toml:3: [[cluster]] sped is unknown; the keys here are config, name, speed, site, attrs`},
		{"attributes", "[[cluster]]\nconfig = \"/a\"\nattrs = { gpus = 4 }", `list.toml:3: [[cluster]] attrs = a table is wrong: it must be a table of names and texts, such as { fabric = "ib" }`},
		{"a cluster's section", "[plan]\nprotect = 3\n[[cluster]]\nconfig = \"/a\"",
			`list.toml:1: plan is unknown in a list of clusters: what one cluster needs stands in its own file; the keys here are [[cluster]], [[link]], [delegate]`},
		{"one name twice", "[[cluster]]\nconfig = \"/a\"\nname = \"x\"\n[[cluster]]\nconfig = \"/b\"\nname = \"x\"",
			`list.toml:4: the cluster is called "x", as that of line 1 is: give one of them another name = "…"`},
		{"a name that is a file's", "[[cluster]]\nconfig = \"/named/x\"\n[[cluster]]\nconfig = \"/b\"\nname = \"x\"",
			`list.toml:3: the cluster is called "x", as that of line 1 is: give one of them another name = "…"`},
		{"one file twice", "[[cluster]]\nconfig = \"/a\"\n[[cluster]]\nconfig = \"/a\"", `list.toml:3: config = "/a" is that of line 1's cluster, too (/a): each needs its own`},
		{"a link to nowhere", "[[cluster]]\nconfig = \"/named/a\"\n[[link]]\nbetween = [\"a\", \"b\"]",
			`list.toml:3: [[link]] between: "b" is no cluster and no site of this list; a cluster that its batch system names needs name = "…" here`},
		{"a link of one end", "[[cluster]]\nconfig = \"/a\"\n[[link]]\nbetween = [\"a\"]",
			`list.toml:4: [[link]] between = [a] is wrong: it must be two names of clusters or sites, such as ["lyon", "b"]`},
		{"a link without ends", "[[cluster]]\nconfig = \"/a\"\n[[link]]\nlatency = \"5ms\"", `list.toml:3: [[link]] has no between: name two clusters or sites, such as between = ["lyon", "b"]`},
		{"a link of a cluster with itself", "[[cluster]]\nconfig = \"/named/a\"\n[[link]]\nbetween = [\"a\", \"a\"]",
			`list.toml:3: [[link]] between: within the cluster "a" there is no latency; name two clusters, or a site twice`},
		{"a link twice", "[[cluster]]\nconfig = \"/named/a\"\n[[cluster]]\nconfig = \"/named/b\"\n[[link]]\nbetween = [\"a\", \"b\"]\n[[link]]\nbetween = [\"b\", \"a\"]",
			`list.toml:7: [[link]] between: the link of line 5 joins "a" and "b", too`},
		{"a site called as a cluster", "[[cluster]]\nconfig = \"/named/a\"\nsite = \"b\"\n[[cluster]]\nconfig = \"/named/b\"",
			`list.toml:4: "b" is a cluster's name and a site's: call one of them otherwise`},
		{"a latency without unit", "[[cluster]]\nconfig = \"/a\"\n[[link]]\nlatency = 5\nbetween = [\"a\", \"b\"]", `list.toml:4: [[link]] latency = 5 is wrong: it must be a duration from 0s to 1m0s, such as "5ms"`},
		{"a link as a value", "link = 3\n[[cluster]]\nconfig = \"/a\"", `list.toml:1: write [[link]] on a line of its own`},
		{"launchers of one of them", "[[cluster]]\nconfig = \"/b\"\n[[cluster]]\nconfig = \"/launchers/a\"",
			`list.toml:3: /launchers/a has a section [delegate] of its own: launchers are served over all clusters of a list; move the section to this file`},
		{"launchers of a cluster without a name", "[[cluster]]\nconfig = \"/a\"\n[delegate]\n",
			`list.toml:1: launchers call clusters by their names: give it name = "…" here`},
		{"launchers in a cluster's journal", "[[cluster]]\nconfig = \"/named/a\"\n[delegate]\njournal = \"/named/a.db\"",
			`list.toml:1: [journal] path = "/named/a.db" is that of [delegate], too (/named/a): each needs its own`},
		{"launchers beside a cluster where few have a place", "[[cluster]]\nconfig = \"/named/a\"\n[[cluster]]\nconfig = \"/named/patient\"\n[delegate]\n",
			`list.toml:3: /named/patient: [delegate] does not go together with a policy under which most jobs have no place, such as easy-evolving and patient: leave it out, or plan the cluster by repeated`},
		{"launchers with a mistake", "[[cluster]]\nconfig = \"/a\"\n[delegate]\n\nanswer = \"20\"",
			`list.toml:5: [delegate] answer = "20" is wrong: it must be a duration from 1s to 1h0m0s, such as "30s"`},
		{"broken TOML", "[[cluster]]\nconfig = \"/a\"\n[[cluster]]\nconfig = b", `list.toml:4: expected value but found "b" instead`},
	} {
		_, err := ParseClusters("list.toml", c.text, apart)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestLaunchersAreServedOverOneClusterOrAList(t *testing.T) {
	want := DefaultDelegate()
	want.Answer, want.Applications = 20*time.Second, 7
	const delegate = "[delegate]\nanswer = \"20s\"\napplications = 7\n"
	for text, want := range map[string]*Delegate{
		"system = \"embedded\"\n" + delegate:              &want,
		"[[cluster]]\nconfig = \"/named/a\"\n" + delegate: &want,
		"system = \"embedded\"\n[delegate]\n":             new(DefaultDelegate()),
		"[[cluster]]\nconfig = \"/a\"\n":                  nil,
		"system = \"embedded\"\n":                         nil,
	} {
		got, err := ParseClusters("f.toml", text, apart)
		if diff := cmp.Diff(want, got.Delegate); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestMistakesInDelegateSectionAreReportedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"[delegate]\ntimers = \"1s\"":                                  `f.toml:2: [delegate] timers is unknown; the keys here are journal, fair_start, timer, applications, answer, grace, bring_up`,
		"[journal]\npath = \"/a.db\"\n[delegate]\njournal = \"/a.db\"": `f.toml:3: [delegate] journal = "/a.db" is that of [journal], too: each needs its own`,
		"delegate = 1": `f.toml:1: delegate must be a table: write [delegate] on a line of its own`,
		"[delegate]\njournal = \"delegate.db\"\n": `f.toml:2: [delegate] journal = "delegate.db" is wrong: it must be an absolute path, such as "/var/lib/accordion/delegate.db"`,
	} {
		if _, err := Parse("f.toml", text); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestWhatTwoClustersCannotShareIsRefused(t *testing.T) {
	for _, c := range []struct{ what, settings string }{
		{`[journal] path = "/j.db"`, "journal.path = \"/j.db\""},
		{`[session] socket = "/a.sock"`, "session.socket = \"/a.sock\""},
		{`[session] listen = ":6820"`, "session.listen = \":6820\""},
		{`[metrics] listen = ":9820"`, "metrics.listen = \":9820\""},
		{`[web] listen = ":9821"`, "web.listen = \":9821\""},
		{`[log] events = "/events"`, "log.events = \"/events\""},
		{`[slurm] limits = "/limits"`, "slurm.limits = \"/limits\""},
	} {
		load := func(path string) (Config, error) {
			text := c.settings
			if !strings.Contains(text, "journal") {
				text += "\njournal.path = \"" + path + ".db\""
			}
			if !strings.Contains(text, "socket") {
				text += "\nsession.socket = \"" + path + ".sock\""
			}
			return Parse(path, text)
		}
		_, err := ParseClusters("list.toml", "[[cluster]]\nconfig = \"/a\"\n[[cluster]]\nconfig = \"/b\"", load)
		if want := fmt.Sprintf("list.toml:3: %s is that of line 1's cluster, too (/a): each needs its own", c.what); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", c.settings, err, want)
		}
	}
}

func TestFilesOfAListThatAreWrongAreNamed(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	absent := filepath.Join(folder, "absent.toml")
	wrong := write("wrong.toml", "\nsystem = \"pbs\"")
	good := write("good.toml", "system = \"embedded\"")
	inner := write("inner.toml", "\n[[cluster]]\nconfig = \""+good+"\"\n[[cluster]]\nconfig = \"/x\"")
	for listed, want := range map[string]string{
		absent: fmt.Sprintf(`LIST:2: [[cluster]] config = %q is wrong: there is no such file`, absent),
		wrong:  wrong + `:2: system = "pbs" is wrong: it must be "slurm", "oar" or "embedded"`,
		inner:  inner + `:2: it lists clusters, where the configuration of one is wanted`,
	} {
		list := write("list.toml", "\n[[cluster]]\nconfig = \""+listed+"\"\n")
		_, err := LoadClusters(list)
		if want := strings.Replace(want, "LIST", list, 1); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", listed, err, want)
		}
	}
	got, err := LoadClusters(write("list.toml", "[[cluster]]\nconfig = \""+good+"\"\n"))
	if err != nil || len(got.All) != 1 || got.All[0].Config.System != SystemEmbedded {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAListTooLongIsRefused(t *testing.T) {
	_, err := ParseClusters("list.toml", strings.Repeat("[[cluster]]\nconfig = \"/a\"\n", mostPieces), apart)
	if err == nil || !strings.Contains(err.Error(), "more than 999 clusters and links") {
		t.Errorf("%v", err)
	}
}

func FuzzParseClusters(f *testing.F) {
	for _, seed := range []string{"", Example, ExampleList, "[[cluster]]", "[[cluster]]\nconfig = \"/a\"\n[cluster.attrs]\na=1", "[[link]]\n[[cluster]]",
		"[[cluster]]\nconfig='''\n[[cluster]]'''", "[[cluster]]\nconfig=\"/a\"\n[delegate]\n", "[[cluster.x]]", "\ufeff[[cluster]]\nconfig=\"/a\"", "cluster = [{config = \"/a\"}]", "[[ cluster ]]\n\"config\" = \"/a\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse("one.toml", text); err != nil && !strings.HasPrefix(err.Error(), "one.toml:") {
			t.Errorf("as one cluster's: %q", err)
		}
		c, err := ParseClusters("list.toml", text, apart)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "list.toml:") || strings.Contains(err.Error(), "\n") || e.Line > 1+strings.Count(text, "\n") {
				t.Errorf("error %q: want one line that begins with the file, and a line of it", err)
			}
			return
		}
		if len(c.All) == 0 {
			t.Error("taken: no cluster")
		}
		names := map[string]bool{}
		for i := range c.All {
			m := &c.All[i]
			if name := m.Config.Cluster; name != "" && names[name] || m.File == "" || !(m.Speed > 0) {
				t.Errorf("taken: %+v", m)
			}
			names[m.Config.Cluster] = true
		}
	})
}
