package sched

import (
	"fmt"
	"strings"

	"accordion/core"
)

// Order is the order in which the jobs of a queue rank. Equals rank as they were submitted.
type Order uint8

// The orders.
const (
	FirstCome     Order = iota // as submitted: fcfs
	ShortestFirst              // by requested time: sjf
	LongestFirst               // by requested time, the longest first: ljf
)

// orderNames are the orders by their names.
var orderNames = [...]string{FirstCome: "fcfs", ShortestFirst: "sjf", LongestFirst: "ljf"}

// ParseOrder reads fcfs, sjf or ljf.
func ParseOrder(name string) (Order, error) {
	for o, n := range orderNames {
		if n == name {
			return Order(o), nil
		}
	}
	return 0, fmt.Errorf("order %s is not one of %s", core.Shown(name), strings.Join(orderNames[:], ", "))
}

// String is the order's name as ParseOrder reads it.
func (o Order) String() string {
	if int(o) < len(orderNames) {
		return orderNames[o]
	}
	return fmt.Sprintf("order %d", uint8(o))
}

// Key returns the rank of jobs of a requested length: the lower goes first.
func (o Order) Key(length core.Time) core.Time {
	switch o {
	case ShortestFirst:
		return length
	case LongestFirst:
		return -length
	}
	return 0
}

// length is the requested time by which a job ranks: the shortest of its choices, Forever when it has none.
func length(j core.Job) core.Time {
	least := core.Forever
	for _, ep := range j.Choices {
		least = min(least, ep.Total())
	}
	return least
}
