package slurm_test

import (
	"bufio"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"accordion/internal/testenv"
)

// A plugin is a running Lua process with job_submit.lua, to which jobs are submitted one by one.
type plugin struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startPlugin starts a plug-in whose site manages all of the partition main.
func startPlugin(t testing.TB) *plugin {
	t.Helper()
	lua := testenv.Program(t, "lua5.1")
	text, err := os.ReadFile("job_submit.lua")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"job_submit.lua":      string(text),
		"accordion.lua":       `return { partitions = { "main" }, manage = "all", address = "ctl:6820" }`,
		"accordion_nodes.lua": `return { main = { { count = 16, cpus = 2, sockets = 1, cores = 2, threads = 1, mem = 4000, tmp = 0, features = { ib = true }, gres = { gpu = 4 } } } }`,
		"reservations.lua":    `return { ["accordion-lease"] = { end_time = 9999999999 }, ["accordion-gate"] = {} }`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fresh(name, text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(lua, "testdata/submit.lua", filepath.Join(dir, "job_submit.lua"), "16")
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), c.Wait() })
	return &plugin{in, bufio.NewReader(out)}
}

// submit passes one job to the plug-in and returns the result.
func (p *plugin) submit(t testing.TB, job fields) fields {
	t.Helper()
	if _, err := io.WriteString(p.in, line(job)); err != nil {
		t.Fatalf("%v: %v", job, err)
	}
	answer, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v: the plug-in's Lua has ended: %v", job, err)
	}
	return parseFields(t, answer)[0]
}

// asksForUs matches texts that could be a request, or that contain one of Accordion's names. A job without such a
// text is an ordinary job.
var asksForUs = regexp.MustCompile(`(?im)^[ \t]*#[ \t]*(EP|MOLD)|^\s*(ep|mold|launch)|_SLURM_SPANK_OPTION_accordion_|expand|accordion`)

// FuzzJobSubmit passes jobs with any texts in their fields to job_submit.lua. The script must never raise an error.
// It must not set a field to a value that Slurm does not accept. The script's message must be one short printable
// line. An ordinary job outside the managed partition must pass unchanged.
func FuzzJobSubmit(f *testing.F) {
	seeds := []string{"", "5x500s,10x1h", "#!/bin/sh\n#EP 2x20s,5x20s\nsrun x\n", "#!/bin/sh\n#MOLD 4x2h|8x70m\n", "ep=2x20s mine", "launch=7", "EXPAND:7", "accordion-grow-7", "accordion-7-2", "main,,main", "n[1-3]",
		"_SLURM_SPANK_OPTION_accordion_ep=2x20s", "%s%d%n", "\x00\xff", "amdahl:p=0.9,t1=1h,nodes=1-4"}
	for i, text := range seeds {
		f.Add(text, seeds[(i+1)%len(seeds)], "", text, "", "", text, "", "shared", uint32(i), uint16(i*37))
		f.Add("#!/bin/sh\n#EP "+text+"\n", "", text, "", text, text, "", text, "", uint32(4294967294), uint16(i))
		f.Add("", "accordion:"+text, "", text, "", text, "", "", text, uint32(0), uint16(1<<12))
		f.Add("", text, "", text, "", "expand:7", "accordion-7-2", "accordion-over-7", "main", uint32(2), uint16(1<<i))
	}
	p := startPlugin(f)
	f.Fuzz(func(t *testing.T, script, comment, spank, features, account, dependency, reservation, name, partition string, number uint32, bits uint16) {
		job := fields{"timed": int64(1), "user_id": int64(1000)}
		for field, text := range map[string]string{"script": script, "comment": comment, "spank": spank, "features": features, "account": account, "qos": account, "dependency": dependency,
			"reservation": reservation, "name": name, "partition": partition} {
			if text != "" {
				job[field] = text
			}
		}
		for i, field := range []string{"min_nodes", "max_nodes", "time_limit", "time_min", "ntasks_per_node", "cpus_per_task", "het_job_offset", "shared", "priority", "immediate", "requeue"} {
			if bits&(1<<i) != 0 {
				job[field] = int64(number)
			}
			if bits&(1<<i) != 0 && slices.Contains([]string{"ntasks_per_node", "cpus_per_task", "shared", "immediate", "requeue"}, field) {
				job[field] = int64(uint16(number)) // the range of Slurm's 16-bit fields
			}
		}
		if bits&(1<<13) != 0 {
			job["tres_per_node"], job["tres_per_task"] = features, account
		}
		if bits&(1<<11) != 0 {
			job["env"] = int64(0)
		}
		if bits&(1<<12) != 0 {
			fuzzChange(t, p, job)
			return
		}
		before := maps.Clone(job)
		got := p.submit(t, job)
		said, _ := got["user"].(string)
		if fault, broke := got["fault"]; broke {
			t.Fatalf("%v: the plug-in broke: %s", job, fault)
		}
		if len(said) > 400 || strings.IndexFunc(said, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Fatalf("%v: it says %q", job, said)
		}
		if rc := got["rc"]; rc != int64(0) && rc != refused && rc != denied && rc != int64(2014) || rc != int64(0) && said == "" {
			t.Fatalf("%v: rc %v, %q", job, rc, said)
		}
		if reads, _ := got["reads"].(int64); reads > 2 {
			t.Fatalf("%v: the script was copied %d times", job, reads)
		}
		ordinary := true
		for _, text := range []string{script, comment, spank, dependency, reservation, name} {
			ordinary = ordinary && !asksForUs.MatchString(text)
		}
		if !ordinary || strings.Contains(partition, "main") || strings.Trim(partition, ",") == "" {
			return
		}
		for field, value := range before {
			if field == "script" || field == "spank" || field == "timed" {
				continue
			}
			if text, is := value.(string); is {
				value = text[:min(len(text), 4096)]
			}
			if got[field] != value {
				t.Fatalf("%v: its %s became %v", job, field, got[field])
			}
		}
		if got["rc"] != int64(0) || got["admin_comment"] != nil || got["reservation"] != before["reservation"] {
			t.Fatalf("%v: an ordinary job became %v", job, got)
		}
	})
}

// fuzzChange passes a user's change of a job to the plug-in. The plug-in must reject changes of managed jobs, and
// changes that use Accordion's names.
func fuzzChange(t *testing.T, p *plugin, job fields) {
	t.Helper()
	text := func(field string) string { s, _ := job[field].(string); return s }
	change := fields{"modify": int64(1), "admin_comment": text("comment"), "dependency": text("dependency"), "into": text("reservation"), "into_name": text("name"),
		"partition": "shared", "to": text("partition"), "name": text("features")}
	got := p.submit(t, change)
	if fault, broke := got["fault"]; broke {
		t.Fatalf("%v: the plug-in broke: %s", change, fault)
	}
	must := strings.HasPrefix(text("comment"), "accordion:") || strings.Contains(strings.ToLower(text("dependency")), "expand") || slices.Contains(strings.Split(text("partition"), ","), "main")
	if rc := got["rc"]; rc != int64(0) && rc != denied || must && rc != denied {
		t.Fatalf("%v: rc %v", change, rc)
	}
}
