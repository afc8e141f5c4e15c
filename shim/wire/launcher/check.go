package launcher

import (
	"fmt"
)

// Limits of what a launcher may send.
const (
	MostName    = 64   // bytes of an application's name
	MostFilters = 64   // number of attributes, and number of clusters, in a filter
	MostHosts   = 64   // clusters of a request
	MostJobs    = 64   // batch jobs of Subscribe or Parts
	MostText    = 1024 // bytes of the name of a cluster or an attribute
)

// Problem describes what is wrong in a message, whatever the state of its session.
type Problem struct {
	Code  string // a code of Refuse
	Field string
	Why   string
}

func (p *Problem) Error() string { return fmt.Sprintf("field %s: %s", p.Field, p.Why) }

// Refuse returns the answer to the message with the number seq.
func (p *Problem) Refuse(seq int64) *Refuse {
	return &Refuse{To: seq, Code: p.Code, Text: p.Error(), Field: p.Field}
}

// Check returns what is wrong in a message, or nil. It checks only the message itself, and not what depends on the session, such as its
// state and the existing clusters and jobs.
func Check(m Message) *Problem {
	switch m := m.(type) {
	case *Hello:
		return m.check()
	case *Subscribe:
		return m.check()
	case *Request:
		return m.check()
	case *Parts:
		return checkJobs(m.Jobs, 1)
	case *Ready:
		return atLeast(1, m.Job, CodeJob, "job")
	case *Ack:
		return atLeast(1, m.View, CodeView, "view")
	case *Change:
		return m.check()
	case *Clusters:
		return m.check()
	}
	return nil
}

// atLeast checks one number.
func atLeast(least, n int64, code, field string) *Problem {
	if n < least {
		return &Problem{code, field, fmt.Sprintf("%d is below %d", n, least)}
	}
	return nil
}

// first returns the first problem.
func first(all ...*Problem) *Problem {
	for _, p := range all {
		if p != nil {
			return p
		}
	}
	return nil
}

func atMost(most, n int, code, field, what string) *Problem {
	if n > most {
		return &Problem{code, field, fmt.Sprintf("%d %s, at most %d are taken", n, what, most)}
	}
	return nil
}

func (m *Hello) check() *Problem {
	if m.Version != Version {
		return &Problem{CodeVersion, "v", fmt.Sprintf("version %d, and this is version %d", m.Version, Version)}
	}
	if m.App != 0 && m.Part != nil {
		return &Problem{CodeFrame, "part", "a part does not come back as an application"}
	}
	p := first(
		atMost(MostName, len(m.Name), CodeSize, "name", "bytes"),
		atLeast(0, m.App, CodeUnknown, "app"),
		atLeast(0, m.Have, CodeView, "have"),
		atLeast(0, int64(m.Deflate), CodeFrame, "deflate"))
	if p != nil || m.Part == nil {
		return p
	}
	if part := *m.Part; part.Cluster != "" {
		return part.check("part")
	}
	return atLeast(1, m.Part.Job, CodeJob, "part.job")
}

func (p Part) check(field string) *Problem {
	if p.Cluster == "" {
		return &Problem{CodeJob, field + ".c", "the cluster has no name"}
	}
	return first(
		atMost(MostText, len(p.Cluster), CodeJob, field+".c", "bytes"),
		atLeast(1, p.Job, CodeJob, field+".job"))
}

func checkJobs(all []Part, least int) *Problem {
	if len(all) < least {
		return &Problem{CodeJob, "jobs", "there are none"}
	}
	if p := atMost(MostJobs, len(all), CodeJob, "jobs", "jobs"); p != nil {
		return p
	}
	seen := make(map[string]bool, len(all))
	for i, job := range all {
		if p := job.check(element("jobs", i)); p != nil {
			return p
		}
		if seen[job.Cluster] {
			return &Problem{CodeJob, element("jobs", i), fmt.Sprintf("a second job on the cluster %.40q", job.Cluster)}
		}
		seen[job.Cluster] = true
	}
	return nil
}

func (m *Subscribe) check() *Problem {
	f := m.Filter
	p := first(
		atLeast(0, int64(f.MinHosts), CodeCluster, "filter.min_hosts"),
		atLeast(0, f.HostMem, CodeCluster, "filter.host_mem"),
		atLeast(0, f.TotalMem, CodeCluster, "filter.total_mem"),
		atLeast(0, f.Scratch, CodeCluster, "filter.scratch"),
		atMost(MostText, len(f.Arch), CodeCluster, "filter.arch", "bytes"),
		atMost(MostFilters, len(f.Attrs), CodeCluster, "filter.attrs", "attributes"),
		atMost(MostFilters, len(f.Clusters), CodeCluster, "filter.clusters", "clusters"),
		atLeast(0, m.Most, CodeWalltime, "most"))
	if p != nil {
		return p
	}
	for key, value := range f.Attrs {
		if p := atMost(MostText, max(len(key), len(value)), CodeCluster, "filter.attrs", "bytes"); p != nil {
			return p
		}
	}
	seen := make(map[string]bool, len(f.Clusters))
	for i, name := range f.Clusters {
		if name == "" || len(name) > MostText || seen[name] {
			return &Problem{CodeCluster, element("filter.clusters", i), "no name, too long a name, or one that is there twice"}
		}
		seen[name] = true
	}
	return checkJobs(m.Jobs, 0)
}

func (m *Request) check() *Problem {
	p := first(
		atLeast(1, m.View, CodeView, "view"),
		atLeast(0, m.Tag, CodeState, "tag"),
		atLeast(1, m.Walltime, CodeWalltime, "walltime"))
	switch {
	case p != nil:
		return p
	case len(m.Hosts) == 0:
		return &Problem{CodeHosts, "hosts", "there are none"}
	}
	if p := atMost(MostHosts, len(m.Hosts), CodeCluster, "hosts", "clusters"); p != nil {
		return p
	}
	seen := make(map[int]bool, len(m.Hosts))
	for i, h := range m.Hosts {
		field := element("hosts", i)
		switch {
		case h.C < 0:
			return &Problem{CodeCluster, field + ".c", fmt.Sprintf("there is no cluster %d", h.C)}
		case seen[h.C]:
			return &Problem{CodeCluster, field + ".c", fmt.Sprintf("the cluster %d is there twice", h.C)}
		case h.N < 1:
			return &Problem{CodeHosts, field + ".n", fmt.Sprintf("%d is below 1", h.N)}
		}
		seen[h.C] = true
	}
	return nil
}

func (m *Clusters) check() *Problem {
	seen := make(map[int]bool, len(m.All))
	for i, c := range m.All {
		if c.C < 0 || seen[c.C] || c.Hosts < 0 || c.Name == "" {
			return &Problem{CodeFrame, element("all", i), "a negative number, one that is there twice, or no name"}
		}
		seen[c.C] = true
	}
	return nil
}

func (m *Change) check() *Problem {
	switch {
	case m.View < 1:
		return atLeast(1, m.View, CodeFrame, "view")
	case m.Base < 0 || m.Base >= m.View:
		return &Problem{CodeFrame, "base", fmt.Sprintf("%d is no view before %d", m.Base, m.View)}
	}
	seen := make(map[int]bool, len(m.All))
	for i, c := range m.All {
		field := element("all", i)
		switch {
		case c.C < 0 || seen[c.C]:
			return &Problem{CodeFrame, field + ".c", "a negative number, or one that is there twice"}
		case c.Kind < 1 || c.Kind > KindInfo|KindLinks|KindOccupation:
			return &Problem{CodeFrame, field + ".kind", fmt.Sprintf("%d is none", c.Kind)}
		case c.Kind&KindInfo != 0 && c.Info == nil:
			return &Problem{CodeFrame, field + ".info", "it is not there"}
		}
		seen[c.C] = true
		if p := c.checkSteps(field); c.Kind&KindOccupation != 0 && p != nil {
			return p
		}
	}
	return nil
}

// checkSteps checks that the steps are pairs of a time and a number of hosts. The times must increase from From on and be before To, and
// the numbers must not be negative.
func (c *ClusterChange) checkSteps(field string) *Problem {
	steps := c.Steps
	switch {
	case len(steps) == 0 || len(steps)%2 != 0:
		return &Problem{CodeFrame, field + ".steps", fmt.Sprintf("%d numbers are no pairs", len(steps))}
	case c.To != 0 && c.To <= c.From:
		return &Problem{CodeFrame, field + ".to", fmt.Sprintf("%d is not after %d", c.To, c.From)}
	case steps[0] != c.From:
		return &Problem{CodeFrame, field + ".steps", fmt.Sprintf("they begin at %d and not at %d", steps[0], c.From)}
	}
	for i := 0; i < len(steps); i += 2 {
		switch {
		case i > 0 && steps[i] <= steps[i-2]:
			return &Problem{CodeFrame, field + ".steps", fmt.Sprintf("%d does not come after %d", steps[i], steps[i-2])}
		case c.To != 0 && steps[i] >= c.To:
			return &Problem{CodeFrame, field + ".steps", fmt.Sprintf("%d is not before %d", steps[i], c.To)}
		case steps[i+1] < 0:
			return &Problem{CodeFrame, field + ".steps", fmt.Sprintf("%d busy hosts", steps[i+1])}
		}
	}
	return nil
}
