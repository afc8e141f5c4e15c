package status_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter/status"
	"accordion/adapter/view"
)

func TestUsageIsShownAsItIsNow(t *testing.T) {
	const week = 7 * 86400
	r := status.QueueReport{Read: week, Queue: view.Queue{Cluster: "c", Usage: &view.Usage{HalfLife: week, Limit: 36000, Users: []view.UserUsage{
		{User: "ann", Account: "physics", Used: 720000, Unused: 144000, At: 0},
		{User: "mallory", Used: 7200, Unused: 144000, At: 0},
	}}}}
	u := r.OfUsage()
	if got := u.Usage.Users[0]; got.Used != 360000 || got.Unused != 72000 || got.At != week {
		t.Errorf("after a half-life it is %+v", got)
	}
	if len(u.Over) != 1 || u.Over[0] != "mallory" {
		t.Errorf("%v are over the limit, want mallory: ann used more than she left unused", u.Over)
	}
	var b strings.Builder
	if err := u.Table(&b, time.Unix(week, 0), time.UTC); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"limit on what is left unused: 10.0 node-hours", "ann physics 100.0 h 20.0 h reserved ahead", "mallory - 1.0 h 20.0 h planned only"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), line) {
			t.Errorf("%q is not in\n%s", line, b.String())
		}
	}
	if own := r.Of("ann").OfUsage(); len(own.Usage.Users) != 1 || own.Usage.Users[0].User != "ann" {
		t.Errorf("ann's own is %+v", own.Usage)
	}
}
