package limits

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// This file generates a Lua file with the node limits that associations and QOS set for any job. With it
// job_submit.lua can refuse impossible jobs at submission. The plug-in does not see these limits itself, and cannot
// query them, because slurmctld holds its locks while the plug-in runs.

// Lua returns the Lua text. For each association ("phys", "phys/1001") and QOS that limits the nodes of a job, the
// text has the limit and its reason. The first line has a digest of the other lines. job_submit.lua loads the file
// again only when the digest changes, because loading a file with thousands of limits takes some 40 ms.
func (p Policies) Lua(n Need) string {
	return withDigest("how many nodes a job may have at most", p.luaTable(n))
}

// withDigest returns a file for job_submit.lua. Its first line has the subject, and a digest of the other lines.
func withDigest(about, body string) string {
	return fmt.Sprintf("-- %s: %s. Read by job_submit.lua. sha256:%x\n%s", author, about, sha256.Sum256([]byte(body)), body)
}

// author is the text in the first line of each file that the sidecar writes for job_submit.lua.
const author = "Written by accordion serve"

// IsOurs reports whether a file for job_submit.lua was written by the sidecar, of this release or of an earlier one.
func IsOurs(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(first, "-- ") && strings.Contains(first, author)
}

// Dated returns a file for job_submit.lua with the time of writing at the start of its first line. The plug-in
// trusts a file for at most a quarter of an hour, because the sidecar may have moved, may now write to another
// place, or may be unable to write.
func Dated(text string, now time.Time) string {
	rest, commented := strings.CutPrefix(text, "--")
	if !commented {
		rest = "\n" + text
	}
	return fmt.Sprintf("-- second:%d%s", now.Unix(), rest)
}

func (p Policies) luaTable(n Need) string {
	var b strings.Builder
	b.WriteString("return {\n\tassociations = {\n")
	entry := func(key string, c ceiling, more string) {
		if c.nodes >= 0 {
			fmt.Fprintf(&b, "\t\t[%s] = { nodes = %d, why = %s%s },\n", quoted(key), c.nodes, quoted(c.why), more)
		}
	}
	for _, a := range p.associations {
		key := a.account
		if a.user != "" {
			key += "/" + a.uid
		}
		entry(key, a.Set.ceiling(n), "")
	}
	b.WriteString("\t},\n\tparents = {\n")
	names := map[string]string{}
	for _, a := range p.associations {
		names[a.id] = a.account
	}
	for _, a := range p.associations {
		if parent := names[a.parent]; parent != "" && a.user == "" && parent != a.account {
			fmt.Fprintf(&b, "\t\t[%s] = %s,\n", quoted(a.account), quoted(parent))
		}
	}
	b.WriteString("\t},\n\tqos = {\n")
	for _, q := range p.qualities {
		lowest, more := q.Set.ceiling(n), ""
		if lowest.nodes >= 0 {
			more = ", outranks = true" // which limits of associations this one replaces is determined when the job waits
		}
		for _, l := range q.each {
			lowest = lowest.lower(l.ceiling(n))
		}
		entry(q.name, lowest, more)
	}
	b.WriteString("\t},\n}\n")
	return b.String()
}

// ceiling returns the highest number of nodes that these limits can ever allow a job.
func (l Set) ceiling(n Need) ceiling {
	lowest := ceiling{nodes: -1}
	l.among(n, func(kind, name string, b bound) {
		lowest = lowest.lower(ceiling{int(b.limit / n.Each[name]), fmt.Sprintf("%s %s is %s=%d", kind, l.of, name, b.limit)})
	})
	return lowest
}

// quoted returns the text as a Lua string. It escapes the names of accounts, too, although only an administrator
// can choose them.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		if c == '"' || c == '\\' || c < ' ' || c > '~' {
			fmt.Fprintf(&b, "\\%03d", c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
