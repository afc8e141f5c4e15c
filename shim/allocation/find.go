package allocation

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// Find is the list of the job that the environment belongs to: what accordion step has exported, else what stands in the hosts file
// that the sidecar keeps for a job that never calls it. It is empty where neither speaks of allocations: then the job has one, its own.
//
// A list of which the present job is no part is another job's, which submitted this one: it counts for nothing.
func Find(env func(name string) (value string, set bool)) (List, error) {
	id, _ := env("SLURM_JOB_ID")
	job, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, nil // no job of Slurm's
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
