package launcher

import (
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestNoFrameTakesMuchMoreMemoryThanItsLength(t *testing.T) {
	const n = 60_000
	list := func(key, element string) string {
		return "\x83\xa1t\xa8clusters\xa1s\x01" + key + "\xdd\x00\x00\xea\x60" + strings.Repeat(element, n)
	}
	for name, body := range map[string]string{
		"unknown lists":        list("\xa1x", "\x90"),
		"unknown maps":         list("\xa1x", "\x80"),
		"clusters of nothing":  list("\xa3all", "\x80"),
		"links of nothing":     list("\xa5links", "\x80"),
		"changes of nothing":   strings.Replace(list("\xa3all", "\x81\xa4info\x80"), "\xa8clusters", "\xa6change", 1),
		"hosts without names":  strings.Replace(list("\xa5hosts", "\x92\x01\x90"), "\xa8clusters", "\xa5start", 1),
		"clusters without end": list("\xa3all", ""),
	} {
		frame := framed([]byte(body))
		took, err := uint64(math.MaxUint64), error(nil)
		for range 5 { // other goroutines of the process allocate memory, too
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err = Decode(frame)
			runtime.ReadMemStats(&after)
			took = min(took, after.TotalAlloc-before.TotalAlloc)
		}
		if took > 20*uint64(len(frame))+4096 {
			t.Errorf("%s: %d bytes for a frame of %d; %v", name, took, len(frame), err)
		}
	}
}

// Lists of the shortest elements are accepted.
func TestShortElementsAreTaken(t *testing.T) {
	m := &Change{View: 2, Base: 1, Now: 9}
	names, cluster := &Start{Tag: 1}, &Clusters{}
	hosts := &Request{View: 1, Walltime: 1}
	for i := range 100 {
		m.All = append(m.All, ClusterChange{C: i, Kind: KindOccupation, From: 1, Steps: []int64{1, 1}})
		names.Hosts = append(names.Hosts, Names{1, []string{"a", "b"}})
		cluster.All = append(cluster.All, Cluster{C: i, Name: "a", Attrs: texts{"": ""}})
		cluster.Links = append(cluster.Links, Link{A: 1, B: 2})
		hosts.Hosts = append(hosts.Hosts, Hosts{1, 1})
	}
	for _, m := range []Message{m, names, cluster, hosts} {
		frame, err := Append(nil, 1, m)
		if err == nil {
			_, _, err = Decode(frame)
		}
		if err != nil {
			t.Errorf("%s: %v", m.Type(), err)
		}
	}
}
