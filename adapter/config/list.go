package config

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Clusters is the content of a configuration file: one batch system, or a list of files, each of
// which describes one batch system.
type Clusters struct {
	All      []Member // at least one, in the order of the list
	Links    []Link
	Delegate *Delegate // nil if launchers are not served
}

// Member is one of the clusters.
type Member struct {
	Config Config            // from the cluster's file; Config.Cluster is the name in the list, or the name in the file if the list has none; "" means the batch system's own name
	File   string            // path of the cluster's file
	Speed  float64           // speed relative to the other clusters, for launchers that predict run times
	Site   string            // name of the site; "" if there is none
	Attrs  map[string]string // attributes by which launchers may select clusters

	line int // line in the list
}

// Link is the network between two clusters or sites, or between the clusters of one site.
type Link struct {
	Between   [2]string
	Latency   time.Duration
	Bandwidth int // Mbit/s; 0 if not known

	line int // line in the list
}

// ExampleList is an example of a list of clusters, with comments: every key, with its default if the key has one.
//
//go:embed list.toml
var ExampleList string

// clusterKeys are the keys of a [[cluster]], linkKeys the keys of a [[link]].
var (
	clusterKeys = table[Member]{
		text("[cluster]", "config", "the absolute path of a cluster's configuration, such as \"/etc/accordion/a.toml\"", absolute,
			func(m *Member) *string { return &m.File }),
		text("[cluster]", "name", "a name without spaces, such as \"slurm\"", plain, func(m *Member) *string { return &m.Config.Cluster }),
		number("[cluster]", "speed", "a number above 0, at most 1000, such as 1.1", func(n float64) bool { return n > 0 && n <= 1000 },
			func(m *Member) *float64 { return &m.Speed }),
		text("[cluster]", "site", "a name without spaces, such as \"lyon\"", plain, func(m *Member) *string { return &m.Site }),
		{section: "[cluster]", key: "attrs", want: "a table of names and texts, such as { fabric = \"ib\" }", put: putAttrs},
	}
	linkKeys = table[Link]{
		{section: "[link]", key: "between", want: "two names of clusters or sites, such as [\"lyon\", \"b\"]", put: putBetween},
		duration("[link]", "latency", 0, time.Minute, "5ms", func(l *Link) *time.Duration { return &l.Latency }),
		whole("[link]", "bandwidth", 0, 1_000_000_000, func(l *Link) *int { return &l.Bandwidth }),
	}
)

// DefaultLatency is the latency between two clusters without a [[link]].
const DefaultLatency = 50 * time.Millisecond

// LoadClusters reads a configuration file, and the files that it lists. Every error is an *Error.
func LoadClusters(path string) (Clusters, error) {
	text, err := read(path)
	if err != nil {
		return Clusters{}, err
	}
	return ParseClusters(path, text, Load)
}

// ParseClusters parses the text of a configuration file. Errors refer to the text by the name
// `file`. load reads the files that the text lists.
func ParseClusters(file, text string, load func(path string) (Config, error)) (Clusters, error) {
	whole, err := decode(file, text, 0)
	if err != nil {
		return Clusters{}, err
	}
	if !whole.lists() {
		c, err := Parse(file, text)
		if err != nil {
			return Clusters{}, err
		}
		return Clusters{All: []Member{{Config: c, File: file, Speed: 1}}, Delegate: c.Delegate}, nil
	}
	l := list{file: file}
	l.parse(text)
	if err := l.wrong.first(); err != nil {
		return Clusters{}, err
	}
	if err := l.load(load); err != nil {
		return Clusters{}, err
	}
	l.compare()
	l.checkLinks()
	if err := l.wrong.first(); err != nil {
		return Clusters{}, err
	}
	return l.Clusters, nil
}

// lists reports whether the file lists clusters. In the file of one cluster, the key cluster is a name.
func (d *document) lists() bool { return d.md.Type("cluster") == "ArrayHash" }

// list is a list of clusters while it is parsed.
type list struct {
	Clusters
	file  string
	wrong mistakes
}

func (l *list) refuse(line int, format string, args ...any) {
	l.wrong = append(l.wrong, &Error{File: l.file, Line: line, What: fmt.Sprintf(format, args...)})
}

// piece is a part of the text of a list, with at most one [[…]] table. The text is split, because the TOML library reports only the last
// position of a repeated key.
type piece struct {
	above int // number of lines before the piece
	text  string
}

func pieces(text string) []piece {
	all := []piece{{}}
	line := 0
	for s := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(s, " \t"), "[[") {
			all = append(all, piece{above: line})
		}
		all[len(all)-1].text += s
		line++
	}
	return all
}

// firstEntry returns the line of a list's first [[…]].
func firstEntry(text string) int {
	all := pieces(text)
	return all[min(1, len(all)-1)].above + 1 // the first piece is the text before the first [[…]], even if it is empty
}

// mostPieces is the largest number of pieces in a list.
const mostPieces = 1000

// parse parses the list itself.
func (l *list) parse(text string) {
	all := pieces(text)
	if len(all) > mostPieces {
		l.refuse(all[mostPieces].above+1, "more than %d clusters and links: that is no configuration", mostPieces-1)
		return
	}
	for _, p := range all {
		d, err := decode(l.file, p.text, p.above)
		if e := (*Error)(nil); errors.As(err, &e) {
			l.wrong = append(l.wrong, e)
			continue
		}
		for name, content := range d.sections {
			l.section(d, name, content)
		}
	}
}

// section decodes a top-level key of a piece.
func (l *list) section(d *document, name string, content toml.Primitive) {
	wrong := mistakes(nil)
	switch name {
	case "cluster":
		m := Member{Speed: 1, line: d.above + 1}
		if wrong = entry(d, &m, clusterKeys, name, content); len(wrong) == 0 && m.File == "" {
			wrong = append(wrong, d.at(name, `[[cluster]] has no config: name its file, such as config = "/etc/accordion/a.toml"`))
		}
		l.All = append(l.All, m)
	case "link":
		k := Link{Latency: DefaultLatency, line: d.above + 1}
		if wrong = entry(d, &k, linkKeys, name, content); len(wrong) == 0 && k.Between == [2]string{} {
			wrong = append(wrong, d.at(name, `[[link]] has no between: name two clusters or sites, such as between = ["lyon", "b"]`))
		}
		l.Links = append(l.Links, k)
	case delegateSection:
		l.Delegate, wrong = d.delegate(content)
	default:
		wrong = mistakes{d.at(name, name+" is unknown in a list of clusters: what one cluster needs stands in its own file; the keys here are [[cluster]], [[link]], [delegate]")}
	}
	l.wrong = append(l.wrong, wrong...)
}

// load reads the listed files. It returns the error of the first file that has a mistake.
func (l *list) load(load func(path string) (Config, error)) error {
	for i := range l.All {
		m := &l.All[i]
		c, err := load(m.File)
		if e := (*Error)(nil); errors.As(err, &e) && e.Line == 0 && e.File == m.File { // the file cannot be read: report the line of the list, which may name the wrong file
			return &Error{File: l.file, Line: m.line, What: fmt.Sprintf("[[cluster]] config = %q is wrong: %s", m.File, e.What)}
		}
		if err != nil {
			return err
		}
		if c.Delegate != nil {
			return &Error{File: l.file, Line: m.line, What: fmt.Sprintf("%s has a section [delegate] of its own: launchers are served over all clusters of a list; move the section to this file", m.File)}
		}
		if m.Config.Cluster != "" {
			c.Cluster = m.Config.Cluster
		}
		m.Config = c
	}
	return nil
}

// own lists the settings that must differ between clusters.
var own = []struct {
	what string
	of   func(m *Member) string // returns the value that must differ; "" if the member has none
}{
	{"config", func(m *Member) string { return m.File }},
	{"[journal] path", func(m *Member) string { return m.Config.Journal.Path }},
	{"[session] socket", func(m *Member) string { return m.Config.Session.Socket }},
	{"[session] listen", func(m *Member) string { return m.Config.Session.Listen }},
	{"[slurm] limits", func(m *Member) string { return m.Config.Slurm.Limits }},
	{"[metrics] listen", func(m *Member) string { return m.Config.Metrics.Listen }},
	{"[web] listen", func(m *Member) string { return m.Config.Web.Listen }},
	{"[log] events", func(m *Member) string { return m.Config.Log.Events }},
}

// compare reports settings that two clusters share although they must not.
func (l *list) compare() {
	for i := range l.All {
		l.compareWithLaunchers(&l.All[i])
		if pace, first := l.All[i].Config.Pace(), l.All[0].Config.Pace(); pace != first {
			l.refuse(l.All[i].line, "[embedded] pace of %s comes to %d, and that of %s to %d: clusters that are served together have one clock", l.All[i].File, pace, l.All[0].File, first)
		}
		for j := range i {
			m, before := &l.All[i], &l.All[j]
			if name := m.Config.Cluster; name != "" && name == before.Config.Cluster {
				l.refuse(m.line, "the cluster is called %q, as that of line %d is: give one of them another name = \"…\"", name, before.line)
			}
			for _, o := range own {
				if value := o.of(m); value != "" && value == o.of(before) {
					l.refuse(m.line, "%s = %q is that of line %d's cluster, too (%s): each needs its own", o.what, value, before.line, before.File)
					break // a file that is listed twice shares every setting, so one report is enough
				}
			}
		}
	}
}

// compareWithLaunchers reports settings of a cluster that prevent it from serving launchers.
func (l *list) compareWithLaunchers(m *Member) {
	switch {
	case l.Delegate == nil:
	case m.Config.Plan.withoutLaunchers() != "":
		l.refuse(m.line, "%s: %s", m.File, m.Config.Plan.withoutLaunchers())
	case m.Config.Cluster == "":
		l.refuse(m.line, "launchers call clusters by their names: give it name = \"…\" here")
	case m.Config.Journal.Path == l.Delegate.Journal:
		l.refuse(m.line, "[journal] path = %q is that of [delegate], too (%s): each needs its own", l.Delegate.Journal, m.File)
	}
}

// checkLinks reports links to unknown clusters or sites, and pairs with two links.
func (l *list) checkLinks() {
	names := map[string]string{} // for each name, whether it is the name of a cluster or of a site
	for i := range l.All {
		if site := l.All[i].Site; site != "" {
			names[site] = "site"
		}
	}
	for i := range l.All {
		name := l.All[i].Config.Cluster
		if name != "" && names[name] == "site" {
			l.refuse(l.All[i].line, "%q is a cluster's name and a site's: call one of them otherwise", name)
		}
		names[name] = "cluster"
	}
	seen := map[[2]string]int{}
	for i := range l.Links {
		k := &l.Links[i]
		for _, name := range k.Between {
			if names[name] == "" {
				l.refuse(k.line, "[[link]] between: %q is no cluster and no site of this list; a cluster that its batch system names needs name = \"…\" here", name)
			}
		}
		if k.Between[0] == k.Between[1] && names[k.Between[0]] == "cluster" {
			l.refuse(k.line, "[[link]] between: within the cluster %q there is no latency; name two clusters, or a site twice", k.Between[0])
		}
		pair := k.Between
		slices.Sort(pair[:])
		if line := seen[pair]; line > 0 {
			l.refuse(k.line, "[[link]] between: the link of line %d joins %q and %q, too", line, pair[0], pair[1])
		}
		seen[pair] = k.line
	}
}

// putAttrs sets the attributes of m from a table of strings. It returns false if the value is invalid.
func putAttrs(m *Member, value any) bool {
	all, ok := value.(map[string]any)
	attrs := make(map[string]string, len(all))
	for name, v := range all {
		text, isText := v.(string)
		ok = ok && isText && name != "" && plain(name) && plain(text)
		attrs[name] = text
	}
	if ok {
		m.Attrs = attrs
	}
	return ok
}

// putBetween sets the two ends of a link from a list of two names. It returns false if the value is invalid.
func putBetween(l *Link, value any) bool {
	all, ok := value.([]any)
	if !ok || len(all) != len(l.Between) {
		return false
	}
	for i, v := range all {
		name, isText := v.(string)
		if !isText || name == "" || !plain(name) {
			return false
		}
		l.Between[i] = name
	}
	return true
}
