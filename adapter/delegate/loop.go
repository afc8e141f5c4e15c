package delegate

import "context"

// Loop owns the applications.
type Loop struct{ o Options }

// New is a loop that does nothing yet.
func New(o Options) *Loop { return &Loop{o: o} }

// Run serves launchers until ctx ends; then it returns nil. An error means that the journal cannot be read or written.
func (l *Loop) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
