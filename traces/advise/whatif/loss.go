package whatif

// A change counts as a loss if it is at least lossShare of the old value. A change of a mean time must also be
// at least lossSeconds, and a change of a mean slowdown at least lossSlowdown.
const (
	lossShare    = .005
	lossSeconds  = 1
	lossSlowdown = .01
)

// Loss is a case in which the lines make means of a group worse.
type Loss struct {
	Policy  string
	Without bool // compared with the same policy without lines; otherwise with the site as it was
	Of      []Worse
	Gains   []Worse // means that are better than on the site as it was; the estimates are negative
	now     [Kinds]bool
}

// WorseNow reports whether a mean is also worse than on the site as it was. Otherwise the loss, compared with the same policy without
// lines, only makes a gain smaller.
func (l *Loss) WorseNow(k Kind) bool { return l.now[k] }

// BetterOff reports whether no mean of the loss is worse than on the site as it was.
func (l *Loss) BetterOff() bool {
	for _, w := range l.Of {
		if l.WorseNow(w.Kind) {
			return false
		}
	}
	return true
}

// Worse is a mean that becomes larger, and by how much.
type Worse struct {
	Kind Kind
	Estimate
}

// Sure reports whether at least one of the intervals is completely above 0.
func (l *Loss) Sure() bool {
	for _, w := range l.Of {
		if w.Known && w.Low > 0 {
			return true
		}
	}
	return false
}

// Losses returns the losses of a group, compared with the site as it was and, if this is another comparison, with the same policy without
// lines. Node-hours do not count, because holding more nodes does not harm the group.
func (g *Group) Losses() []Loss {
	var all []Loss
	for k := range g.Rows {
		r := &g.Rows[k]
		if !r.Lines {
			continue
		}
		now, alone, same := Loss{Policy: r.Policy}, Loss{Policy: r.Policy, Without: true}, true
		for kind := Wait; kind < NodeHours; kind++ {
			f := &r.Of[kind]
			now.add(kind, f.Value, &f.Now)
			if c := f.Now.By; -c.Value > leastLoss(kind, f.Value-c.Value) {
				now.Gains = append(now.Gains, Worse{kind, c})
			}
			if f.Alone != nil {
				alone.add(kind, f.Value, f.Alone)
				same = same && *f.Alone == f.Now
			}
		}
		for _, w := range now.Of {
			now.now[w.Kind] = true
		}
		alone.now, alone.Gains = now.now, now.Gains
		if len(now.Of) > 0 {
			all = append(all, now)
		}
		if len(alone.Of) > 0 && !same {
			all = append(all, alone)
		}
	}
	return all
}

// add adds a change that is large enough to count.
func (l *Loss) add(kind Kind, value float64, c *Change) {
	if c.By.Value > leastLoss(kind, value-c.By.Value) {
		l.Of = append(l.Of, Worse{kind, c.By})
	}
}

// leastLoss returns the smallest change of a mean that counts.
func leastLoss(kind Kind, was float64) float64 {
	least := float64(lossSeconds)
	if kind == Slowdown {
		least = lossSlowdown
	}
	return max(least, lossShare*was)
}
