package application

import (
	"io"
	"sync"

	"accordion/core"
)

// Selector answers views, each by and by. No method but Close blocks.
type Selector interface {
	// See shows a view, whole: only the newest needs an answer.
	See(Sight)
	// Answers have one for each view that was not followed by another too soon.
	Answers() <-chan Selected
	// Close ends it; nobody may call See afterwards.
	Close()
}

// Selector is the model at work. The largest walltime is seconds, 0 for any. A program's complaints go to stderr.
func (m Model) Selector(most core.Time, stderr io.Writer) (Selector, error) {
	if m.command != nil {
		return startProgram(m.command, most, stderr, answerPatience)
	}
	c := &computer{views: make(chan Sight, 1), answers: make(chan Selected), over: make(chan struct{})}
	c.done.Go(func() { c.compute(m.Chooser(), most) })
	return c, nil
}

// computer is a Chooser beside the launcher, which goes on meanwhile.
type computer struct {
	views   chan Sight
	answers chan Selected
	over    chan struct{}
	done    sync.WaitGroup
}

var _ Selector = (*computer)(nil)

func (c *computer) compute(model Chooser, most core.Time) {
	for {
		select {
		case <-c.over:
			return
		case s := <-c.views:
			answer, err := model.Choose(s, most)
			select {
			case c.answers <- Selected{View: s.View, Answer: answer, Err: err}:
			case <-c.over:
				return
			}
		}
	}
}

func (c *computer) See(s Sight)              { put(c.views, s) }
func (c *computer) Answers() <-chan Selected { return c.answers }
func (c *computer) Close()                   { close(c.over); c.done.Wait() }
