// Package application implements `accordion launch`, the launcher of one application.
//
// A Launcher is a state machine. Its inputs are messages, answers of the application's model, and outcomes of submissions. Its outputs are
// actions (Act). Run carries out the actions over a connection from shim/launcher/link, and reconnects when the connection breaks.
//
//	model, err := selector.Parse("amdahl:p=0.99,t1=10h,nodes=1-256")
//	status := application.Run(ctx, application.Options{Model: model, …})
//
// The Launcher is in launcher.go and progress.go, its inputs and outputs in event.go. run.go and work.go carry out acts. command.go and
// submit.go submit batch jobs that are held, and marked with the application. shim/launcher/selector decides what to request.
package application
