package shim

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"accordion/shim/allocation"
)

// Getenv looks an environment variable up, as os.LookupEnv does.
type Getenv func(name string) (value string, set bool)

// get is the value, "" when it is not set.
func (e Getenv) get(name string) string {
	v, _ := e(name)
	return v
}

// The variables that the shim itself exports.
const (
	variableJob        = "ACCORDION_JOB"        // whose the others are: a job submitted from inside a job inherits them
	variableStep       = "ACCORDION_STEP"       // the step the job is in, from 1
	variableSteps      = "ACCORDION_STEPS"      // how many it has
	variableUntil      = "ACCORDION_UNTIL"      // Unix second at which the step ends as planned
	variableGeneration = "ACCORDION_GENERATION" // number of resizes so far
	variableNodelist   = "ACCORDION_NODELIST"   // all nodes of the job, as a host list
	variableNodes      = "ACCORDION_NNODES"     // how many
	variableHostfile   = "ACCORDION_HOSTFILE"   // file with one of them a line
	variableHosts      = "ACCORDION_HOSTS"      // the hosts file that the sidecar keeps for a job that never calls accordion step
	variableTasks      = "ACCORDION_TASKS"      // tasks/nodes of the first step, which later sizes are scaled from
)

// job is the job that the shim runs in.
type job struct {
	id     int64
	env    Getenv
	system system
}

// system is what differs between batch systems on the job's side.
type system interface {
	// described lists the nodes that the environment speaks of; nil when it does not.
	described(env Getenv) []string
	// ask lists the nodes that the batch system says a job of this user holds. An error for which isOver is true: none, it does
	// not run any more.
	ask(ctx context.Context, id int64) ([]string, error)
	// export makes the environment speak of what the job has (nodes sorted, at least one). What it says is for the user.
	export(s *script, j job, has holding) (says []string)
}

// findJob knows the job by what its batch system sets in every job.
func findJob(env Getenv) (job, error) {
	for _, c := range []struct {
		variable string
		system   system
	}{
		{"SLURM_JOB_ID", slurm{}},
		{"OAR_JOB_ID", oar{}},
	} {
		text, set := env(c.variable)
		if !set {
			continue
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return job{}, fmt.Errorf("%s is %q, which is no job id", c.variable, text)
		}
		return job{id: id, env: env, system: c.system}, nil
	}
	return job{}, fmt.Errorf("not inside a job (neither SLURM_JOB_ID nor OAR_JOB_ID is set): call it in the job script")
}

// errOver: the job does not run any more.
var errOver = errors.New("the job does not run any more")

func isOver(err error) bool { return errors.Is(err, errOver) }

// own is the value of one of our variables, "" when it was another job's.
func (j job) own(name string) string {
	if j.env.get(variableJob) != strconv.FormatInt(j.id, 10) {
		return ""
	}
	return j.env.get(name)
}

// step is the step that the job believes it is in: what the last call told it, the first before any call.
func (j job) step() int {
	if n, ok := allocation.Positive(j.own(variableStep)); ok {
		return n
	}
	return 1
}
