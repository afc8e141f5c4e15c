// Package application speaks for one application to the sidecar's delegated scheduling: it is what `accordion launch` is made of.
//
// A Launcher is a state machine: messages, what the application's model answers and outcomes of submissions go in, acts come out. Run is
// the loop around it: it carries the acts out, over a connection that shim/launcher/link makes, and comes back when that breaks.
//
//	model, err := selector.Parse("amdahl:p=0.99,t1=10h,nodes=1-256")
//	status := application.Run(ctx, application.Options{Model: model, …})
//
// Files: launcher.go and progress.go decide, event.go has what they are told and what they want done; run.go and work.go do; command.go and
// submit.go submit batch jobs that are held, and marked with the application. What to request of a view is shim/launcher/selector's.
package application
