package selector

import (
	"io"
	"sync"

	"accordion/core"
)

// Said is an answer to a view, or an error.
type Said struct {
	View int64
	Answer
	Err error
}

// Selector answers views in another goroutine. Only Close blocks.
type Selector interface {
	// See passes a whole view. Only the newest view needs an answer.
	See(Sight)
	// Answers returns the channel of answers. A view that was replaced early gets no answer.
	Answers() <-chan Said
	// Close ends the Selector. See must not be called after it.
	Close()
}

// Start starts a Selector for the model. `most` is the longest walltime in seconds, or 0 for any. The standard error of a program goes to
// `stderr`.
func (m Model) Start(most core.Time, stderr io.Writer) (Selector, error) {
	if m.command != nil {
		return startProgram(m.command, most, stderr, answerPatience)
	}
	c := &computer{views: make(chan Sight, 1), answers: make(chan Said), over: make(chan struct{})}
	c.done.Go(func() { c.compute(m.Chooser(), most) })
	return c, nil
}

// computer is a Selector that runs a Chooser in another goroutine.
type computer struct {
	views   chan Sight
	answers chan Said
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
			case c.answers <- Said{View: s.View, Answer: answer, Err: err}:
			case <-c.over:
				return
			}
		}
	}
}

func (c *computer) See(s Sight)          { put(c.views, s) }
func (c *computer) Answers() <-chan Said { return c.answers }
func (c *computer) Close()               { close(c.over); c.done.Wait() }
