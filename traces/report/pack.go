package report

import (
	"bytes"
	"compress/flate"
	"encoding/binary"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// pack collects whole numbers, each in as few bytes as possible (LEB128; negative numbers are interleaved with positive numbers). Similar
// numbers are in the same column, because these compress well. page/data.js reads the columns.
type pack struct{ bytes.Buffer }

func (p *pack) count(v int) { p.natural(uint64(v)) }

func (p *pack) natural(v uint64) {
	var b [binary.MaxVarintLen64]byte
	p.Write(b[:binary.PutUvarint(b[:], v)])
}

func (p *pack) whole(v int64) {
	var b [binary.MaxVarintLen64]byte
	p.Write(b[:binary.PutVarint(b[:], v)])
}

func (p *pack) profile(ep core.EP) {
	p.count(len(ep))
	for _, s := range ep {
		p.whole(s.Duration)
		p.whole(int64(s.Nodes))
	}
}

// deflated returns the compressed pack, without a header.
func (p *pack) deflated() []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	if _, err := w.Write(p.Bytes()); err != nil {
		panic(err) // a buffer accepts all writes
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// packJobs returns the jobs of the workload, without their outcomes.
func packJobs(jobs []workload.Job) []byte {
	var p pack
	p.count(len(jobs))
	number, submit := int64(0), core.Time(0)
	for i := range jobs {
		p.whole(jobs[i].Number - number - 1)
		number = jobs[i].Number
	}
	for i := range jobs {
		p.whole(jobs[i].Submit - submit)
		submit = jobs[i].Submit
	}
	for i := range jobs {
		p.whole(jobs[i].Run)
	}
	for i := range jobs {
		p.whole(jobs[i].Request)
	}
	for i := range jobs {
		p.whole(int64(jobs[i].Size))
	}
	for i := range jobs {
		p.whole(int64(jobs[i].User))
	}
	for i := range jobs {
		kind := uint64(jobs[i].Kind())
		if jobs[i].Cut {
			kind |= 4
		}
		p.natural(kind)
	}
	for i := range jobs {
		if jobs[i].Kind() == workload.Rigid {
			continue
		}
		p.count(len(jobs[i].Choices))
		for _, ep := range jobs[i].Choices {
			p.profile(ep)
		}
	}
	return p.deflated()
}

// packTimes returns when the jobs began and ended, and the sizes of evolving jobs.
func packTimes(jobs []workload.Job, outcomes []replay.Outcome) []byte {
	var p pack
	for i := range jobs { // 0 if the job never began, otherwise 1 plus the interleaved wait
		if outcomes[i].Start < 0 {
			p.natural(0)
			continue
		}
		wait := outcomes[i].Start - jobs[i].Submit
		p.natural(uint64(wait<<1^wait>>63) + 1)
	}
	for i := range jobs {
		if outcomes[i].Start >= 0 {
			p.whole(outcomes[i].End - outcomes[i].Start - jobs[i].Run)
		}
	}
	for i := range jobs {
		if outcomes[i].Start >= 0 && jobs[i].Kind() != workload.Rigid {
			p.count(outcomes[i].Choice)
			p.profile(outcomes[i].Held)
		}
	}
	return p.deflated()
}

// packHeld returns the nodes that jobs held. A job that held the same nodes throughout takes two zeros and its spans.
func packHeld(outcomes []replay.Outcome, held [][]replay.Stretch) []byte {
	var p pack
	for i, stretches := range held {
		if outcomes[i].Start < 0 {
			continue
		}
		p.count(len(stretches))
		before := outcomes[i].Start
		for _, s := range stretches {
			p.whole(s.From - before)
			p.whole(outcomes[i].End - s.To)
			before = s.To
			p.count(len(s.Nodes))
			next := int32(0)
			for _, n := range s.Nodes {
				p.natural(uint64(n.First - next))
				p.natural(uint64(n.Last - n.First))
				next = n.Last + 1
			}
		}
	}
	return p.deflated()
}
