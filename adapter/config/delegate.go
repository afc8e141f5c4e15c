package config

import (
	"time"

	"github.com/BurntSushi/toml"
)

// Delegate configures how launchers are served (delegated scheduling).
type Delegate struct {
	Journal      string
	FairStart    time.Duration // time for which hosts that an application released stay free for applications that could not request them yet
	Timer        time.Duration // time between two passes of the algorithm
	Applications int           // number of applications, by rank, that a pass considers
	Answer       time.Duration // how long a launcher may take to answer a change
	Grace        time.Duration // how long a launcher may be disconnected
	BringUp      time.Duration // how long the parts of an application may take to start
}

// DefaultDelegate returns the values of an empty section.
func DefaultDelegate() Delegate {
	return Delegate{Journal: "/var/lib/accordion/delegate.db", FairStart: 5 * time.Second, Timer: time.Second, Applications: 200,
		Answer: 30 * time.Second, Grace: time.Minute, BringUp: 30 * time.Second}
}

const delegateSection = "delegate"

var delegateKeys = table[Delegate]{
	text(delegateSection, "journal", "an absolute path, such as \"/var/lib/accordion/delegate.db\"", absolute, func(d *Delegate) *string { return &d.Journal }),
	duration(delegateSection, "fair_start", 0, time.Hour, "5s", func(d *Delegate) *time.Duration { return &d.FairStart }),
	duration(delegateSection, "timer", 100*time.Millisecond, time.Minute, "1s", func(d *Delegate) *time.Duration { return &d.Timer }),
	whole(delegateSection, "applications", 1, 100_000, func(d *Delegate) *int { return &d.Applications }),
	duration(delegateSection, "answer", time.Second, time.Hour, "30s", func(d *Delegate) *time.Duration { return &d.Answer }),
	duration(delegateSection, "grace", time.Second, 24*time.Hour, "60s", func(d *Delegate) *time.Duration { return &d.Grace }),
	duration(delegateSection, "bring_up", time.Second, 10*time.Minute, "30s", func(d *Delegate) *time.Duration { return &d.BringUp }),
}

// delegate parses the section [delegate].
func (d *document) delegate(content toml.Primitive) (*Delegate, mistakes) {
	settings := DefaultDelegate()
	if wrong := section(d, &settings, delegateKeys, delegateSection, content); len(wrong) > 0 {
		return nil, wrong
	}
	return &settings, nil
}
