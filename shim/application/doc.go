// Package application speaks for one application to the sidecar's delegated scheduling: it is what `accordion launch` is made of.
//
// A Launcher is a state machine: messages, answers of the application's model and outcomes of submissions go in, acts come out. Run is
// the loop around it: it carries the acts out, over a connection that shim/link makes, and comes back when that breaks.
//
//	model, err := application.ParseModel("amdahl:p=0.99,t1=10h,nodes=1-256")
//	status := application.Run(ctx, application.Options{Model: model, …})
//
// Files: model.go, moldable.go, complex.go and program.go choose what to request of a view; sight.go is the view; launcher.go decides;
// run.go and its neighbours do; command.go, script.go and submit.go submit batch jobs that are held, and marked with the application.
package application
