package managed

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

func TestOutagesAreKeptAsIntervals(t *testing.T) {
	type call struct {
		began, now, booted core.Time
		failed             bool
	}
	for name, c := range map[string]struct {
		calls []call
		want  []Outage
	}{
		"all is well":                          {[]call{{10, 10, 1, false}, {20, 20, 1, false}}, nil},
		"one reading fails":                    {[]call{{10, 10, 1, false}, {12, 17, 0, true}, {18, 19, 1, false}}, []Outage{{10, 19}}},
		"the first reading of all fails":       {[]call{{12, 17, 0, true}, {18, 19, 1, false}}, []Outage{{12, 19}}},
		"it lasts":                             {[]call{{10, 10, 1, false}, {12, 17, 0, true}, {18, 19, 0, true}}, []Outage{{10, 0}}},
		"the last answer is long ago":          {[]call{{10, 10, 1, false}, {500, 505, 0, true}, {510, 510, 1, false}}, []Outage{{440, 510}}},
		"a restart that no call met":           {[]call{{10, 10, 1, false}, {40, 40, 15, false}}, []Outage{{10, 15}}},
		"a restart long after the last answer": {[]call{{10, 10, 1, false}, {940, 940, 915, false}}, []Outage{{855, 915}}},
		"a restart that calls met is one":      {[]call{{10, 10, 1, false}, {12, 12, 0, true}, {16, 16, 15, false}}, []Outage{{10, 16}}},
		"... also where its second is seen later": {
			[]call{{10, 10, 1, false}, {12, 12, 0, true}, {16, 16, 1, false}, {40, 40, 15, false}}, []Outage{{10, 16}}},
		"a restart that is seen some answers later": {[]call{{10, 10, 1, false}, {16, 16, 1, false}, {17, 17, 1, false}, {40, 40, 15, false}}, []Outage{{10, 15}}},
		"a reading hangs":            {[]call{{10, 10, 1, false}, {12, 27, 1, false}}, []Outage{{12, 27}}},
		"all readings hang":          {[]call{{10, 18, 1, false}, {20, 35, 1, false}, {40, 55, 1, false}}, nil},
		"a reading is slow":          {[]call{{10, 10, 1, false}, {12, 20, 1, false}}, nil},
		"nothing is known of starts": {[]call{{10, 10, 0, false}, {40, 40, 0, false}}, nil},
		"the first known start":      {[]call{{10, 10, 0, false}, {40, 40, 15, false}}, nil},
	} {
		var o Outages
		for _, x := range c.calls {
			if x.failed {
				o.Fail(x.began)
			} else {
				o.Answer(x.began, x.now, x.booted)
			}
		}
		if !slices.Equal(o.Known, c.want) {
			t.Errorf("%s: %v, want %v", name, o.Known, c.want)
		}
	}
}

func TestNumberOfKnownOutagesIsBounded(t *testing.T) {
	var o Outages
	for i := range core.Time(500) {
		o.Fail(10 * i)
		o.Answer(10*i+5, 10*i+5, 1)
	}
	if n := len(o.Known); n != mostOutages || o.Known[n-1].To != 4995 {
		t.Errorf("%d outages are kept, the last one %v", n, o.Known[n-1])
	}
}

func TestCostOfOutageToApplication(t *testing.T) {
	const lasts = 1000
	one := []Outage{{100, 103}}
	for name, c := range map[string]struct {
		outages  []Outage
		from, to core.Time
		programs *adapter.Programs
		want     core.Time
	}{
		"none":                                  {nil, 90, 200, nil, 0},
		"long before its step":                  {one, 113, 200, &adapter.Programs{}, 0},
		"just before its step":                  {one, 108, 200, nil, 0},
		"... and a program waits":               {one, 108, 160, &adapter.Programs{Waits: true}, 52},
		"... and a program began late":          {one, 108, 200, &adapter.Programs{Begun: []core.Time{170}}, 62},
		"its programs are not known":            {one, 90, 200, nil, 3},
		"a program began late":                  {one, 90, 200, &adapter.Programs{Begun: []core.Time{168}}, 68},
		"two programs began late":               {one, 90, 200, &adapter.Programs{Begun: []core.Time{190, 168}}, 68},
		"a program waits":                       {one, 90, 160, &adapter.Programs{Waits: true}, 60},
		"a program waits beside one that runs":  {one, 90, 160, &adapter.Programs{Begun: []core.Time{95}, Waits: true}, 60},
		"a program waits for another reason":    {one, 90, lasts, &adapter.Programs{Waits: true}, 3 + Stall},
		"none runs":                             {one, 90, 160, &adapter.Programs{}, 60},
		"none runs for long":                    {one, 90, lasts, &adapter.Programs{}, 3 + Stall},
		"one runs since before":                 {one, 90, 200, &adapter.Programs{Begun: []core.Time{95}}, 3},
		"a program began in it":                 {one, 90, 200, &adapter.Programs{Begun: []core.Time{101}}, 3},
		"a program began much later":            {one, 90, lasts, &adapter.Programs{Begun: []core.Time{900}}, 3 + Stall},
		"it lasts":                              {[]Outage{{100, 0}}, 90, 400, nil, 300},
		"it began before the step":              {one, 101, 200, nil, 2},
		"two, and a program waited out both":    {[]Outage{{100, 103}, {120, 125}}, 90, 300, &adapter.Programs{Begun: []core.Time{190}}, 90},
		"two, one after the other was overcome": {[]Outage{{100, 103}, {500, 505}}, 90, 600, &adapter.Programs{Begun: []core.Time{110}}, 10 + 5},
		"a second that did not stop it":         {[]Outage{{100, 103}, {500, 505}}, 90, 600, &adapter.Programs{Begun: []core.Time{168}}, 68 + 5},
	} {
		o := Outages{Known: c.outages}
		if got := o.Cost(c.from, c.to, c.programs); got != c.want {
			t.Errorf("%s: %d s, want %d", name, got, c.want)
		}
	}
}

func TestLimitIsRaisedByWholeMinutesForCostOfOutages(t *testing.T) {
	for name, c := range map[string]struct {
		stalled, delayed, extended, late core.Time
		want                             core.Time
	}{
		"nothing was lost":        {0, 0, 0, 10, 0},
		"the step is not over":    {65, 0, 0, -10, 0},
		"the step should be over": {65, 0, 0, 10, 120},
		"it was raised before":    {65, 0, 120, 10, 0},
		"it lost more":            {65, 66, 120, 10, 60},
		"an earlier step was":     {0, 66, 0, -10, 120},
	} {
		r := &Job{Record: Record{Phase: Running, Limit: 600, Began: 1000, Promise: []core.Time{1100}, OutageCost: c.stalled, PastOutageCost: c.delayed, LimitExtended: c.extended},
			Reading: Reading{Seen: &adapter.Job{Limit: 600}}}
		if got := r.LimitExtension(1100 + c.late); got != c.want {
			t.Errorf("%s: %d s, want %d", name, got, c.want)
		}
	}
}
