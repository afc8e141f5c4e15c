package web

import "testing"

// What an version of 10,000 jobs costs beside the loop, where every plan has moved: once for all readers.
func BenchmarkEditionsOf10000Jobs(b *testing.B) {
	s := clusterOf(1000, 150, 9850)
	h := New(Options{})
	p := newPast(nil, h.options.Clock())
	p.look(s)
	e := newEdition(nil, s, p, &h.options, true)
	b.ReportAllocs()
	whole, news := 0, 0
	for b.Loop() {
		s = later(s, 1)
		p.look(s)
		e = newEdition(e, s, p, &h.options, true)
		_, packed := e.whole.bytes()
		whole = len(packed)
		_, packed = e.news.bytes()
		news = len(packed)
	}
	b.ReportMetric(float64(whole), "whole-B")
	b.ReportMetric(float64(news), "news-B")
}
