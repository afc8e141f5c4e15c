package sched

import (
	"fmt"
	"strings"

	"accordion/core"
)

// Order is the order of the jobs in a queue. Jobs that are equal in this order rank in order of submission.
type Order uint8

// The orders.
const (
	FirstCome     Order = iota // in order of submission: fcfs
	ShortestFirst              // by requested time: sjf
	LongestFirst               // by requested time, the longest first: ljf
)

// orderNames has the name of each order.
var orderNames = [...]string{FirstCome: "fcfs", ShortestFirst: "sjf", LongestFirst: "ljf"}

// ParseOrder parses fcfs, sjf or ljf.
func ParseOrder(name string) (Order, error) {
	for o, n := range orderNames {
		if n == name {
			return Order(o), nil
		}
	}
	return 0, fmt.Errorf("order %s is not one of %s", core.Shown(name), strings.Join(orderNames[:], ", "))
}

// String returns the name that ParseOrder reads.
func (o Order) String() string {
	if int(o) < len(orderNames) {
		return orderNames[o]
	}
	return fmt.Sprintf("order %d", uint8(o))
}

// Key returns the rank of a job of a requested length. Lower ranks go first.
func (o Order) Key(length core.Time) core.Time {
	switch o {
	case ShortestFirst:
		return length
	case LongestFirst:
		return -length
	}
	return 0
}

// length returns the requested time by which a job ranks. This is the time of its shortest choice, or Forever
// if it has no choices.
func length(j core.Job) core.Time {
	least := core.Forever
	for _, ep := range j.Choices {
		least = min(least, ep.Total())
	}
	return least
}
