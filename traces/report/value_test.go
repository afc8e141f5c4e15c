package report

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestValuesAreFormattedByUnit(t *testing.T) {
	begin := time.Date(2006, 11, 3, 8, 0, 0, 0, time.FixedZone("", -7*3600))
	for _, c := range []struct {
		unit  Unit
		value float64
		want  string
	}{
		{Number, 92.5765, "92.6"}, {Number, 9.996, "10.0"}, {Number, 0.00012, "0"}, {Number, -1234567, minus + "1_234_567"}, {Number, 4321, "4321"},
		{Number, math.NaN(), dash}, {Number, math.Inf(1), dash},
		{Count, 28481, "28_481"},
		{Seconds, 0, "0_s"}, {Seconds, 0.26, "0.3_s"}, {Seconds, 59.4, "59_s"}, {Seconds, 59.6, "1_min"}, {Seconds, 6836.87, "1_h 54_min"},
		{Seconds, 86399.9, "1_d"}, {Seconds, 400 * 86400, "1_y 35_d"}, {Seconds, -90, minus + "1_min 30_s"},
		{Share, 0.8725, "87.2_%"}, {Share, 1, "100_%"},
		{NodeSeconds, 7200, "2.00_node-h"},
		{Instant, 90000, "4 Nov 2006 09:00"}, {Instant, 1 << 40, "day 12_725_829, 00:36"},
	} {
		if got := strings.ReplaceAll(c.unit.text(c.value, begin), thin, "_"); got != c.want {
			t.Errorf("%v in unit %d is written %q, want %q", c.value, c.unit, got, c.want)
		}
	}
	if got := Instant.text(-60, time.Time{}); got != "day "+minus+"1, 23:59" {
		t.Errorf("a minute before an unknown beginning is %q", got)
	}
}

func TestDifferencesAreToTheFirst(t *testing.T) {
	for _, c := range []struct {
		unit     Unit
		v, first float64
		want     string
	}{
		{Seconds, 50, 100, minus + "50_%"}, {Seconds, 100, 100, "="}, {Seconds, 103.25, 100, "+3.2_%"}, {Seconds, 100.01, 100, "+<_0.1_%"},
		{Seconds, 1500, 100, "×15.0"}, {Seconds, 30, 0, "+30_s"}, {Share, 0.5, 0.625, minus + "12.5_points"}, {Share, 0.5001, 0.5, "+<_0.1_points"},
		{Instant, 0, 3600, minus + "1_h"}, {Number, math.NaN(), 3, ""},
	} {
		if got := strings.ReplaceAll(c.unit.change(c.v, c.first), thin, "_"); got != c.want {
			t.Errorf("%v beside %v in unit %d differs by %q, want %q", c.v, c.first, c.unit, got, c.want)
		}
	}
}

func TestBetterValueIsMarked(t *testing.T) {
	for _, c := range []struct {
		better   Better
		v, first float64
		want     int
	}{
		{Lower, 1, 2, 1}, {Lower, 2, 1, -1}, {Higher, 1, 2, -1}, {Higher, 2, 1, 1}, {Neither, 1, 2, 0}, {Lower, 1000.1, 1000, 0}, {Lower, math.NaN(), 1, 0},
	} {
		if got := c.better.judge(c.v, c.first); got != c.want {
			t.Errorf("%v beside %v is judged %d, want %d", c.v, c.first, got, c.want)
		}
	}
}

func TestLeadNamesTheBestPolicyUnlessItIsTheFirst(t *testing.T) {
	r := two()
	r.Table[0].Values = []float64{100, 50}
	if l := r.lead(); l.BestPolicy != "2X+c" || l.Best.Change != minus+"50\u202f%" {
		t.Errorf("of 100 and 50 seconds the lead is %+v", l)
	}
	r.Table[0].Values = []float64{50, 100}
	if l := r.lead(); l.BestPolicy != "" || l.FirstPolicy != "easy" {
		t.Errorf("of 50 and 100 seconds the lead is %+v", l)
	}
	r.Replays = r.Replays[:1]
	if l := r.lead(); l != nil {
		t.Errorf("of one policy the lead is %+v", l)
	}
}
