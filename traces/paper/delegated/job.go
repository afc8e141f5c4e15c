package delegated

import (
	"math"

	"accordion/core"
)

// Hosts is how many hosts each cluster has.
const Hosts = 128

// MaxClusters is how many clusters there are at most: two countries of two cities of two clusters.
const MaxClusters = 8

// Kind is a kind of application.
type Kind int

// The kinds.
const (
	Rigid    Kind = iota
	Moldable      // on one cluster, any number of hosts between two bounds
	CEM           // on several clusters at once
)

var kindNames = []string{"rigid", "moldable", "cem"}

func (k Kind) String() string { return kindNames[k] }

// Job is an application: a line of a jobs file.
type Job struct {
	Kind   Kind
	Arrive core.Time // second
	Factor float64   // its walltime over its run time
	Delay  core.Time // seconds until a view is answered, with what it showed when it came; 0: at once

	D1          float64 // of rigid and moldable: seconds on one host of speed 1
	P           float64 // the share of it that runs in parallel (Amdahl's law); 1 of rigid
	Least, Most int     // hosts

	W          float64 // of cem: host-seconds at speed 1
	Iterations float64 // each of which waits for the network once
}

// Each product is rounded before it is added to anything, so that no machine fuses the two and rounds otherwise.

// speed is that of a cluster, counted from 0.
func speed(cluster int) float64 { return 1 + float64(0.1*float64(cluster)) }

// speeds are those of all clusters; read only.
var speeds = func() (all []float64) {
	for c := range MaxClusters {
		all = append(all, speed(c))
	}
	return all
}()

// time is how long a rigid or moldable job runs on so many hosts of a cluster, in seconds.
func (j *Job) time(cluster, hosts int) float64 {
	return float64((1-j.P+j.P/float64(hosts))*j.D1) / speed(cluster)
}

// several is how long a cem job runs on so many hosts of each cluster, in seconds.
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

// latency is that between two clusters, in seconds.
func latency(a, b int) float64 {
	switch {
	case a == b:
		return 0
	case a/2 == b/2: // a city
		return 0.005
	case a/4 == b/4: // a country
		return 0.010
	}
	return 0.050
}

// seconds is a time in whole seconds, rounded up but for what is rounding already.
func seconds(t float64) core.Time { return max(1, core.Time(math.Ceil(t-1e-9))) }

// run is how long a job lasts, and walltime how long its launcher says that it may.
func (j *Job) run(t float64) core.Time      { return seconds(t) }
func (j *Job) walltime(t float64) core.Time { return seconds(float64(t * j.Factor)) }

// sizes is how many sizes a rigid or moldable job has.
func (j *Job) sizes() int { return j.Most - j.Least + 1 }

// longest is the longest walltime that the job may have.
func (j *Job) longest() float64 {
	if j.Kind == CEM {
		return float64((j.W + j.Iterations*latency(0, MaxClusters-1)) * j.Factor)
	}
	return float64(j.time(0, j.Least) * j.Factor)
}
