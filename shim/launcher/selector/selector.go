package selector

import (
	"io"
	"sync"

	"accordion/core"
)

// Said is what a selector has to say about a view: what the application wants, or why nothing is known of that.
type Said struct {
	View int64
	Answer
	Err error
}

// Selector answers views, each by and by. No method but Close blocks.
type Selector interface {
	// See shows a view, whole: only the newest needs an answer.
	See(Sight)
	// Answers have one for each view that was not followed by another too soon.
	Answers() <-chan Said
	// Close ends it; nobody may call See afterwards.
	Close()
}

// Start puts the model to work. The largest walltime is seconds, 0 for any. A program's complaints go to stderr.
func (m Model) Start(most core.Time, stderr io.Writer) (Selector, error) {
	if m.command != nil {
		return startProgram(m.command, most, stderr, answerPatience)
	}
	c := &computer{views: make(chan Sight, 1), answers: make(chan Said), over: make(chan struct{})}
	c.done.Go(func() { c.compute(m.Chooser(), most) })
	return c, nil
}

// computer is a Chooser beside the launcher, which goes on meanwhile.
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
