package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/shim/launcher/application"
	"accordion/shim/launcher/selector"
	"accordion/traces/paper/delegated"
)

// lineOptions returns the options for one application of an experiment. `at` is FILE:LINE, which names a jobs file and
// the line of the application's job. In such an experiment, the sidecar itself makes the jobs of parts. The result
// `used` is a function that writes the processor time, in seconds, that the launcher has used since its welcome.
func lineOptions(at, name string) (o application.Options, used func(io.Writer), err error) {
	i := strings.LastIndexByte(at, ':')
	line, err := strconv.Atoi(at[i+1:])
	if i < 1 || err != nil || line < 1 {
		return o, nil, fmt.Errorf("--application %s is not FILE:LINE: name a jobs file (docs/delegated.md) and one of its lines, counted from 1", core.Shown(at))
	}
	file, err := os.Open(at[:i])
	if err != nil {
		return o, nil, fmt.Errorf("--application: %w", err)
	}
	defer file.Close()
	job, err := delegated.ReadLine(file, at[:i], line)
	if err != nil {
		return o, nil, fmt.Errorf("--application: %w", err)
	}
	if job.Delay != 0 {
		return o, nil, fmt.Errorf("--application %s: its delay is %d s: only jobs without a delay can run here", at, job.Delay)
	}
	o.Name, o.Lasts = name, job.Lasts
	o.Model = selector.By(func() selector.Chooser { return &lineChooser{job: job} })
	before := 0.0
	o.Welcomed = func() { before = processorTime() }
	return o, func(w io.Writer) { fmt.Fprintf(w, "used %.6f s of processor time\n", processorTime()-before) }, nil
}

// lineChooser chooses the request for a job of an experiment. The numbers of clusters are those of the experiment.
type lineChooser struct {
	job      delegated.Job
	launcher *delegated.Launcher
	clusters int
}

var errNowhere = errors.New("it fits on no cluster")

// Choose implements selector.Chooser. It ignores the longest walltime, because no flag sets one for such a job.
func (c *lineChooser) Choose(s selector.Sight, _ core.Time) (selector.Answer, error) {
	n := 0
	for _, seen := range s.Clusters {
		n = max(n, seen.C+1)
	}
	if n > delegated.MaxClusters {
		return selector.Answer{}, fmt.Errorf("there are %d clusters: such an application supports %d", n, delegated.MaxClusters)
	}
	if n != c.clusters {
		c.launcher, c.clusters = delegated.NewLauncher(c.job, max(1, n)), n
	}
	view := make(moldable.View, n)
	for _, seen := range s.Clusters {
		view[seen.C] = moldable.Cluster{Hosts: seen.Hosts, Points: seen.Points}
	}
	found, err := c.launcher.Answer(view, s.Now)
	if err == nil && !found.OK {
		err = errNowhere
	}
	return selector.Answer{Hosts: append([]moldable.Part(nil), found.Parts...), Walltime: found.Walltime}, err
}

// processorTime returns the processor time of this process, in seconds.
func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0 // only experiments use the result
	}
	return (time.Duration(u.Utime.Nano()) + time.Duration(u.Stime.Nano())).Seconds()
}
