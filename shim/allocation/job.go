package allocation

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core/hostlist"
	"accordion/slurm/number"
)

// callTimeout limits one call of scontrol.
const callTimeout = 5 * time.Second

// ErrUnknown means that Slurm no longer knows the job.
var ErrUnknown = errors.New("the job does not exist any more")

// Job is a job's state and nodes, as Slurm reports them.
type Job struct {
	State string   // RUNNING, COMPLETING, …
	Nodes []string // the nodes that the job holds, or held
	gres  []held
}

// held is the devices that a job holds on some nodes.
type held struct {
	nodes []string
	gres  string
}

// alive are the states of a job that holds its nodes and will go on.
var alive = []string{"RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "CONFIGURING"}

// Runs reports whether the job holds its nodes and will go on.
func (j Job) Runs() bool { return slices.Contains(alive, j.State) }

// Gres returns the devices that the job holds on a node, in the form of srun's --gres, such as "gpu:a100:2,nic:1". It returns "" if the job
// holds no devices.
func (j Job) Gres(node string) string {
	for _, h := range j.gres {
		if slices.Contains(h.nodes, node) {
			return h.gres
		}
	}
	return ""
}

// Show asks Slurm about one job. The error may be ErrUnknown; every other error names the command that failed.
func Show(ctx context.Context, id int64) (Job, error) {
	out, err := call(ctx, "show", "job", "-d", "-o", strconv.FormatInt(id, 10))
	if err != nil {
		return Job{}, fmt.Errorf("scontrol show job %d: %w", id, err)
	}
	j, err := parseJob(out)
	if err != nil {
		return Job{}, fmt.Errorf("scontrol show job %d: %w", id, err)
	}
	return j, nil
}

// KillsOnBadExit reports whether this cluster ends a whole step when one of its tasks fails.
func KillsOnBadExit(ctx context.Context) (bool, error) {
	out, err := call(ctx, "show", "config")
	if err != nil {
		return false, fmt.Errorf("scontrol show config: %w", err)
	}
	return killsOnBadExit.MatchString(out), nil
}

var killsOnBadExit = regexp.MustCompile(`(?m)^KillOnBadExit\s*=\s*1\s*$`)

func call(ctx context.Context, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, "scontrol", arguments...)
	c.WaitDelay = time.Second // so that a child of scontrol that keeps the pipe open does not block the call
	out, err := c.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return string(out), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("no answer within %v", callTimeout)
	case errors.As(err, &exit) && strings.Contains(string(exit.Stderr), "Invalid job id"):
		return "", ErrUnknown
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		return "", errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return "", err
}

// These expressions find fields in a line of scontrol's output. They also match neighboring fields, so that they find neither ReqNodeList
// nor a part of the job's name or comment, which the user wrote.
var (
	jobState = regexp.MustCompile(` JobState=(\S+) Reason=\S* Dependency=`)
	nodeList = regexp.MustCompile(` ReqNodeList=\S* ExcNodeList=\S* NodeList=(\S*) BatchHost=`)
	gresLine = regexp.MustCompile(` Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S*)`)
)

// options converts the devices that a job holds on a node, such as gpu:2(IDX:0-1),tmp(CNT:1024), into the form of srun's --gres.
func options(holds string) string {
	var all []string
	for r := range number.Resources(holds) {
		if r.Kind == number.Device && r.Count > 0 {
			all = append(all, fmt.Sprintf("%s:%d", r.Name, r.Count))
		}
	}
	return strings.Join(all, ",")
}

func parseJob(line string) (Job, error) {
	var j Job
	if m := jobState.FindStringSubmatch(line); m != nil {
		j.State = m[1]
	}
	m := nodeList.FindStringSubmatch(line)
	if m == nil {
		return Job{}, errors.New("no NodeList in its answer")
	}
	var err error
	j.Nodes, err = hostlist.Expand(m[1])
	switch {
	case err != nil:
		return Job{}, err
	case len(j.Nodes) == 0:
		return Job{}, errors.New("the job holds no nodes")
	}
	for _, m := range gresLine.FindAllStringSubmatch(line, -1) {
		if nodes, err := hostlist.Expand(m[1]); err == nil {
			j.gres = append(j.gres, held{nodes, options(m[2])})
		}
	}
	return j, nil
}
