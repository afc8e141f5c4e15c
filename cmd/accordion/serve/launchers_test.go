package serve

import "testing"

func TestTheFirstClusterThatHasAPageServesTheMetricsOfApplications(t *testing.T) {
	dark, first, second := &instance{}, &instance{}, &instance{}
	first.conf.Metrics.Listen, second.conf.Metrics.Listen = "127.0.0.1:1", "127.0.0.1:2"
	if a := counted([]*instance{dark, first, second}); a == nil || first.counted != a || dark.counted != nil || second.counted != nil {
		t.Errorf("counted are %v, %v, %v", dark.counted, first.counted, second.counted)
	}
	if counted([]*instance{dark}) != nil {
		t.Error("metrics that nobody serves are counted")
	}
}
