package delegated

import (
	"math"

	"accordion/core"
)

// Hosts is the number of hosts of each cluster.
const Hosts = 128

// MaxClusters is the largest number of clusters: two countries with two cities each, and two clusters in each city.
const MaxClusters = 8

// Kind is a kind of application.
type Kind int

// The kinds.
const (
	Rigid    Kind = iota
	Moldable      // on one cluster, with any number of hosts between two bounds
	CEM           // on several clusters simultaneously
)

var kindNames = []string{"rigid", "moldable", "cem"}

func (k Kind) String() string { return kindNames[k] }

// Job is an application: a line of a jobs file.
type Job struct {
	Kind   Kind
	Arrive core.Time // second of the arrival
	Factor float64   // walltime relative to the run time
	Delay  core.Time // seconds that the launcher needs to answer a view; 0 means that it answers immediately

	D1          float64 // rigid and moldable: seconds on one host of speed 1
	P           float64 // the parallel share of D1 (Amdahl's law); 1 for a rigid job
	Least, Most int     // smallest and largest number of hosts

	W          float64 // cem: host-seconds at speed 1
	Iterations float64 // number of iterations, each with one network wait
}

// Each product is converted before it is added, so that machines with fused multiply-add round in the same way.

// speed returns the speed of a cluster. The first cluster has the index 0.
func speed(cluster int) float64 { return 1 + float64(0.1*float64(cluster)) }

// speeds has the speeds of all clusters; read only.
var speeds = func() (all []float64) {
	for c := range MaxClusters {
		all = append(all, speed(c))
	}
	return all
}()

// time returns how long a rigid or moldable job runs on a number of hosts of a cluster, in seconds.
func (j *Job) time(cluster, hosts int) float64 {
	return float64((1-j.P+j.P/float64(hosts))*j.D1) / speed(cluster)
}

// several returns how long a cem job runs on these hosts of each cluster, in seconds.
func (j *Job) several(hosts []int) float64 {
	lowest, highest := -1, -1
	for c, n := range hosts {
		if n > 0 {
			if highest = c; lowest < 0 {
				lowest = c
			}
		}
	}
	c := j.coupled(len(hosts))
	return c.Time(hosts, latency(lowest, highest))
}

// latency returns the latency between two clusters, in seconds.
func latency(a, b int) float64 {
	switch {
	case a == b:
		return 0
	case a/2 == b/2: // in one city
		return 0.005
	case a/4 == b/4: // in one country
		return 0.010
	}
	return 0.050
}

// seconds returns whole seconds, rounded up except for rounding errors.
func seconds(t float64) core.Time { return max(1, core.Time(math.Ceil(t-1e-9))) }

// run returns how long a job that needs t seconds lasts. walltime returns the walltime that its launcher
// requests.
func (j *Job) run(t float64) core.Time      { return seconds(t) }
func (j *Job) walltime(t float64) core.Time { return seconds(float64(t * j.Factor)) }

// sizes returns how many sizes a rigid or moldable job has.
func (j *Job) sizes() int { return j.Most - j.Least + 1 }

// longest returns the longest walltime that the job may have.
func (j *Job) longest() float64 {
	if j.Kind == CEM {
		return float64((j.W + j.Iterations*latency(0, MaxClusters-1)) * j.Factor)
	}
	return float64(j.time(0, j.Least) * j.Factor)
}
