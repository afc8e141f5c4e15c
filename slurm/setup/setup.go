// Package setup determines what a Slurm cluster needs for Accordion: files of Accordion, and lines for the
// administrator's slurm.conf. It also reports settings, partitions and nodes that prevent jobs from growing safely,
// with their remedies. It changes nothing.
package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"accordion/slurm/limits"
	"accordion/slurm/output"
)

// A Wish holds the choices that the caller of setup must make.
type Wish struct {
	Config    string // path of the sidecar's configuration
	Partition string // the partition whose nodes are managed
	Conf      string // path of slurm.conf for the sidecar; "" if Slurm's programs find the file by themselves
	Listen    string // address on which the sidecar listens for jobs on other hosts, such as 0.0.0.0:6820; "" means that it does not
	Address   string // that address as other hosts reach it, such as controller:6820
	Web       string // address of the web page, such as 127.0.0.1:9821; "" means no web page
	Plugin    string // text of job_submit.lua
	// ShortestStep is shortest_step in section [limits] of the sidecar's configuration. The plug-in needs it, too.
	ShortestStep time.Duration
}

// A File is one of Accordion's files.
type File struct {
	Path, Text string
	What       string // its purpose
}

// A Line is a line for slurm.conf.
type Line struct {
	Text string
	What string // its effect
}

// Folder returns the folder of slurm.conf, where slurmctld looks for the plug-in.
func Folder(c output.Configuration) string { return filepath.Dir(c["SLURM_CONF"]) }

// limitsFile is the file in which the sidecar writes the site's node limits for the plug-in.
const limitsFile = "accordion_limits.lua"

// Generated returns the files that the sidecar writes for the plug-in while it serves.
func Generated(c output.Configuration) []string {
	return []string{filepath.Join(Folder(c), limitsFile), filepath.Join(Folder(c), limits.NodesFile), filepath.Join(Folder(c), limits.OperatorsFile)}
}

// Files returns the files to create, in this order.
func Files(c output.Configuration, w Wish) []File {
	var conf strings.Builder
	fmt.Fprintf(&conf, "# Written by accordion setup slurm. What may stand here besides: accordion config example\nsystem = \"slurm\"\n\n[slurm]\npartition = %q\nlimits = %q\n", w.Partition, filepath.Join(Folder(c), limitsFile))
	if w.Conf != "" {
		fmt.Fprintf(&conf, "conf = %q\n", w.Conf)
	}
	site := fmt.Sprintf("partitions = { %q }", w.Partition)
	if w.Listen != "" {
		fmt.Fprintf(&conf, "\n[session]\nlisten = %q\n", w.Listen)
		site += fmt.Sprintf(", address = %q", w.Address)
		if socket := mungeSocket(c); socket != "" {
			fmt.Fprintf(&conf, "munge_socket = %q\n", socket)
			site += fmt.Sprintf(", munge_socket = %q", socket)
		}
	}
	site += fmt.Sprintf(", shortest_step = %d", w.ShortestStep/time.Second)
	conf.WriteString(Web(w.Web))
	return []File{
		{w.Config, conf.String(), "the sidecar's configuration"},
		{filepath.Join(Folder(c), "accordion.lua"), "-- Written by accordion setup slurm.\nreturn { " + site + " }\n", "which partition is managed, for the plug-in"},
		{filepath.Join(Folder(c), "job_submit.lua"), w.Plugin, "the plug-in: it reads #EP and #MOLD, and keeps users from changing managed jobs"},
	}
}

// Web returns the [web] section of a configuration, or "" if `listen` is "".
func Web(listen string) string {
	if listen == "" {
		return ""
	}
	return fmt.Sprintf("\n[web]\nlisten = %q\n", listen)
}

// mungeSocket returns the path of munged's socket if Slurm's configuration sets one (AuthInfo=socket=/path). It
// returns "" for the default socket.
func mungeSocket(c output.Configuration) string {
	for _, word := range strings.Split(c["AuthInfo"], ",") {
		if path, is := strings.CutPrefix(strings.TrimSpace(word), "socket="); is {
			return path
		}
	}
	return ""
}

// patience is a BatchStartTimeout, in seconds, that is long enough for any job.
const patience = 65000

// Lines returns the lines that slurm.conf lacks. `c` holds the settings in force. A new line keeps the values that
// its setting already has.
func Lines(c output.Configuration, in output.Inventory, partition string) []Line {
	var lines []Line
	list := func(key, word, what string) {
		words := strings.FieldsFunc(strings.TrimSuffix(c[key], "(null)"), func(r rune) bool { return r == ',' })
		if !slices.Contains(words, word) {
			lines = append(lines, Line{key + "=" + strings.Join(append(words, word), ","), what})
		}
	}
	list("JobSubmitPlugins", "lua", "slurmctld asks job_submit.lua, next to slurm.conf, about each job that is submitted or changed")
	list("SchedulerParameters", "permit_job_expansion", "a running job may be given the nodes of another one of its user: without it jobs grow by companions only")
	if n, ok := c.Number("BatchStartTimeout"); ok && n < patience {
		lines = append(lines, Line{fmt.Sprintf("BatchStartTimeout=%d", patience), "a batch job that has grown by a node before that of its script is not taken for lost when its node registers"})
	}
	for _, p := range in.Partitions {
		if p.Name == partition && c.CoreBinding() != "" && !p.Sharing().SharesOnRequest() {
			lines = append(lines, Line{"PartitionName=" + partition + " … OverSubscribe=YES:2",
				"(in the line that is there) cores are bound here: for a moment a growing job's own cores are given twice, to it alone; otherwise jobs grow by companions"})
		}
	}
	return lines
}

// Reads reports whether slurmctld loads job_submit.lua. If it does, the file must not be removed, because without
// the file slurmctld would reject every job.
func Reads(c output.Configuration) bool {
	return slices.Contains(strings.Split(c["JobSubmitPlugins"], ","), "lua")
}
