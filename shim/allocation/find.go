package allocation

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// Find returns the list of allocations of the job to which the environment belongs. It reads the list that accordion step has exported, or
// else the list in the hosts file, which the sidecar updates for jobs that never call accordion step. If neither contains allocations, the
// list is empty, and the job has only its own allocation.
//
// Find ignores a list that does not contain the present job, because it belongs to the job that submitted this one.
func Find(env func(name string) (value string, set bool)) (List, error) {
	id, _ := env("SLURM_JOB_ID")
	job, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, nil // not a job of Slurm
	}
	if text, _ := env(Variable); text != "" {
		list, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Variable, err)
		}
		if list.Has(job) {
			return list, nil
		}
	}
	cluster, _ := env("SLURM_CLUSTER_NAME")
	h, err := ReadHosts(Published(cluster, job))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil, nil
	}
	return h.Allocations, err
}
