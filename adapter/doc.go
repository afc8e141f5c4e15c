// Package adapter is the sidecar: it observes a batch system, plans with core/queue, and acts on the difference.
//
// One goroutine owns all state (Sidecar.Run). It does not wait for the batch system: reading and acting happen in
// goroutines of their own, which report back to it.
package adapter
