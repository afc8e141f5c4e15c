package launcher

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatCannotBeByItselfIsNamedWithItsCode(t *testing.T) {
	request := func(walltime int64, hosts ...Hosts) *Request {
		return &Request{View: 1, Hosts: hosts, Walltime: walltime}
	}
	var many []Hosts
	var names []string
	var jobs []Part
	for i := range 65 {
		many, names, jobs = append(many, Hosts{i, 1}), append(names, fmt.Sprint(i)), append(jobs, Part{fmt.Sprint(i), 1})
	}
	for name, c := range map[string]struct {
		m           Message
		code, field string // "" if nothing is wrong
	}{
		"a request":              {request(1, Hosts{0, 1}, Hosts{1, 1}), "", ""},
		"of 64 clusters":         {request(1, many[:64]...), "", ""},
		"of 65 clusters":         {request(1, many...), CodeCluster, "hosts"},
		"walltime 0":             {request(0, Hosts{0, 1}), CodeWalltime, "walltime"},
		"walltime below 0":       {request(-1, Hosts{0, 1}), CodeWalltime, "walltime"},
		"no hosts":               {request(1), CodeHosts, "hosts"},
		"0 hosts":                {request(1, Hosts{0, 0}), CodeHosts, "hosts[0].n"},
		"-1 hosts":               {request(1, Hosts{0, 1}, Hosts{1, -1}), CodeHosts, "hosts[1].n"},
		"a cluster below 0":      {request(1, Hosts{-1, 1}), CodeCluster, "hosts[0].c"},
		"a cluster twice":        {request(1, Hosts{3, 1}, Hosts{3, 1}), CodeCluster, "hosts[1].c"},
		"no view":                {&Request{Hosts: many[:1], Walltime: 1}, CodeView, "view"},
		"a tag below 0":          {&Request{View: 1, Tag: -1, Hosts: many[:1], Walltime: 1}, CodeState, "tag"},
		"an ack of no view":      {&Ack{}, CodeView, "view"},
		"hello":                  {&Hello{Version: 2, Name: strings.Repeat("x", 64)}, "", ""},
		"a long name":            {&Hello{Version: 2, Name: strings.Repeat("x", 65)}, CodeSize, "name"},
		"another version":        {&Hello{Version: 3}, CodeVersion, "v"},
		"an application below 0": {&Hello{Version: 2, App: -1}, CodeUnknown, "app"},
		"a view below 0":         {&Hello{Version: 2, App: 1, Have: -1}, CodeView, "have"},
		"a part without job":     {&Hello{Version: 2, Part: &Part{"a", 0}}, CodeJob, "part.job"},
		"a part that comes back": {&Hello{Version: 2, App: 1, Part: &Part{"a", 1}}, CodeFrame, "part"},
		"subscribe":              {&Subscribe{Filter: Filter{Clusters: names[:64]}, Jobs: jobs[:64]}, "", ""},
		"65 filters":             {&Subscribe{Filter: Filter{Clusters: names}}, CodeCluster, "filter.clusters"},
		"a filter twice":         {&Subscribe{Filter: Filter{Clusters: []string{"a", "a"}}}, CodeCluster, "filter.clusters[1]"},
		"hosts below 0":          {&Subscribe{Filter: Filter{MinHosts: -1}}, CodeCluster, "filter.min_hosts"},
		"most below 0":           {&Subscribe{Most: -1}, CodeWalltime, "most"},
		"65 jobs":                {&Subscribe{Jobs: jobs}, CodeJob, "jobs"},
		"two jobs of a cluster":  {&Parts{Jobs: []Part{{"a", 1}, {"a", 2}}}, CodeJob, "jobs[1]"},
		"job 0":                  {&Parts{Jobs: []Part{{"a", 0}}}, CodeJob, "jobs[0].job"},
		"parts of nothing":       {&Parts{}, CodeJob, "jobs"},
		"ready of no job":        {&Ready{}, CodeJob, "job"},
		"done":                   {&Done{Code: -7}, "", ""},
	} {
		p := Check(c.m)
		switch {
		case p == nil && c.code != "":
			t.Errorf("%s: nothing is wrong", name)
		case p != nil && (p.Code != c.code || p.Field != c.field || p.Why == "" || p.Refuse(4).To != 4):
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestWhichRefusalsCloseTheConnection(t *testing.T) {
	for code, final := range map[string]bool{
		CodeHosts: false, CodeCluster: false, CodeWalltime: false, CodeJob: false, CodeView: false, CodeState: false, CodeType: false,
		CodeAuth: true, CodeVersion: true, CodeUnknown: true, CodeFull: true, CodeFrame: true, CodeSize: true, CodeFlood: true,
	} {
		if Final(code) != final {
			t.Errorf("%s: %v", code, !final)
		}
	}
}
