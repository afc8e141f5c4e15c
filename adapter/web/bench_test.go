package web

import "testing"

// BenchmarkVersionsOf10000Jobs measures how long it takes to compute a version with 10,000 jobs, all of
// whose planned starts have changed. A version is computed once for all readers, and the loop does not
// wait for that.
func BenchmarkVersionsOf10000Jobs(b *testing.B) {
	s := clusterOf(1000, 150, 9850)
	h := New(Options{})
	p := newPast(nil, h.options.Clock())
	p.observe(s)
	e := newVersion(nil, s, p, &h.options, true)
	b.ReportAllocs()
	whole, news := 0, 0
	for b.Loop() {
		s = later(s, 1)
		p.observe(s)
		e = newVersion(e, s, p, &h.options, true)
		_, packed := e.whole.bytes()
		whole = len(packed)
		_, packed = e.news.bytes()
		news = len(packed)
	}
	b.ReportMetric(float64(whole), "whole-B")
	b.ReportMetric(float64(news), "news-B")
}
