// Package model generates workloads from a seed. The same seed gives the same jobs on every machine.
//
//	log := model.Generated(10_000, 42) // the log of the benchmarks
//	log = model.Lublin{Jobs: 10_000, Nodes: 128, Alpha: 10.23, Seed: 1}.Log() // similar to real logs
//
// It returns logs (package swf). traces/replay replays them.
package model

import (
	"fmt"

	"accordion/traces/swf"
)

// GeneratedNodes is the size of the machine of Generated.
const GeneratedNodes = 1024

// GeneratedSeed is the seed of the log of the benchmarks, which has 10,000 jobs.
const GeneratedSeed = 42

// Generated returns a log for a machine of 1,024 nodes. Other programs can generate it in a few lines, to compare schedules start by start.
// For each job it draws five numbers r by splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
// whose state is the seed at first. The job is submitted r mod 7592 seconds after the previous one. With k = r mod 10 it has 2^k + r mod 2^k
// nodes. It requests q = 60 + r mod 86341 seconds, and runs for 1 + r mod q seconds.
func Generated(jobs int, seed uint64) *swf.Log {
	log := &swf.Log{Name: fmt.Sprintf("generated-%d-%d", jobs, seed), Records: make([]swf.Record, jobs)}
	random := Splitmix(seed)
	var now int64
	for i := range log.Records {
		now += random.Below(7592)
		half := int64(1) << random.Below(10)
		size := half + random.Below(half)
		request := 60 + random.Below(86341)
		log.Records[i] = record(int64(i)+1, now, int32(size), 1+random.Below(request), request)
	}
	header(&log.Header, jobs, GeneratedNodes, "none: generated, splitmix64", fmt.Sprintf("made by accordion trace generate --jobs %d --seed %d", jobs, seed))
	return log
}

// record returns a completed job.
func record(number, submit int64, size int32, run, request int64) swf.Record {
	return swf.Record{
		Number: number, Submit: submit, Wait: swf.Unknown, Run: run, Processors: size, CPU: swf.Unknown,
		UsedMemory: swf.Unknown, RequestedProcessors: size, RequestedTime: request, RequestedMemory: swf.Unknown,
		Status: swf.Completed, User: swf.Unknown, Group: swf.Unknown, Application: swf.Unknown, Queue: swf.Unknown,
		Partition: swf.Unknown, Preceding: swf.Unknown, Think: swf.Unknown,
	}
}

// header adds the header fields of a generated log.
func header(h *swf.Header, jobs, nodes int, computer, note string) {
	h.Add("Version", "2.2")
	h.Add("Computer", computer)
	h.Add("MaxJobs", fmt.Sprint(jobs))
	h.Add("MaxRecords", fmt.Sprint(jobs))
	h.Add("UnixStartTime", "0")
	h.Add("MaxNodes", fmt.Sprint(nodes))
	h.Add("MaxProcs", fmt.Sprint(nodes))
	h.Add("Note", note)
}

// Splitmix is a stream of random numbers that is the same on every machine: the state of splitmix64 (Steele et al., "Fast Splittable
// Pseudorandom Number Generators", 2014).
type Splitmix uint64

// Next returns the next number.
func (s *Splitmix) Next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns the next number modulo n.
func (s *Splitmix) Below(n int64) int64 { return int64(s.Next() % uint64(n)) }
