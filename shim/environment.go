package shim

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"accordion/shim/allocation"
)

// Getenv looks up an environment variable, as os.LookupEnv does.
type Getenv func(name string) (value string, set bool)

// get returns the value of a variable, or "" when it is not set.
func (e Getenv) get(name string) string {
	v, _ := e(name)
	return v
}

// The environment variables that the shim exports.
const (
	variableJob        = "ACCORDION_JOB"        // the job to which the other variables belong, because a job that is submitted inside a job inherits them
	variableStep       = "ACCORDION_STEP"       // number of the step that the job is in, from 1
	variableSteps      = "ACCORDION_STEPS"      // number of all steps
	variableUntil      = "ACCORDION_UNTIL"      // Unix second at which the step is planned to end
	variableGeneration = "ACCORDION_GENERATION" // number of resizes so far
	variableNodelist   = "ACCORDION_NODELIST"   // all nodes of the job, as a host list
	variableNodes      = "ACCORDION_NNODES"     // number of nodes
	variableHostfile   = "ACCORDION_HOSTFILE"   // file with one node per line
	variableHosts      = "ACCORDION_HOSTS"      // the hosts file that the sidecar updates for a job that never calls accordion step
	variableTasks      = "ACCORDION_TASKS"      // tasks/nodes of the first step, from which the numbers of tasks of later steps are computed
)

// job is the job that the shim runs in.
type job struct {
	id     int64
	env    Getenv
	system system
}

// system is the job's side of a batch system.
type system interface {
	// described returns the nodes that the environment lists, or nil if it lists none.
	described(env Getenv) []string
	// ask returns the nodes that a job of this user holds, as the batch system reports them. If the job no longer runs, isEnded returns
	// true for the error.
	ask(ctx context.Context, id int64) ([]string, error)
	// export sets the variables that describe the job's nodes (sorted, at least one). It returns messages for the user.
	export(s *script, j job, has holding) (messages []string)
}

// findJob finds the job by the variable that its batch system sets in every job.
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

// errEnded means that the job does not run any more.
var errEnded = errors.New("the job does not run any more")

func isEnded(err error) bool { return errors.Is(err, errEnded) }

// own returns the value of one of the shim's variables, or "" if the value belongs to another job.
func (j job) own(name string) string {
	if j.env.get(variableJob) != strconv.FormatInt(j.id, 10) {
		return ""
	}
	return j.env.get(name)
}

// step returns the number of the job's present step, as the last call of Step exported it. Before the first call it returns 1.
func (j job) step() int {
	if n, ok := allocation.Positive(j.own(variableStep)); ok {
		return n
	}
	return 1
}
