package schedule

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/ep"

	"github.com/google/go-cmp/cmp"
)

func TestAProblemIsReadInBothForms(t *testing.T) {
	got, err := Parse([]byte(`{"nodes":100,"busy":[[1200,10],[5,0]],
		"applications":[{"id":"a","ep":[[500,5],[3600,10]]},{"ep":"5x500s","id":"b"}]}`), 0)
	want := &Problem{Nodes: 100, Busy: core.EP{{Duration: 1200, Nodes: 10}, {Duration: 5}}, Applications: []Application{
		{ID: "a", EP: core.EP{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}}},
		{ID: "b", EP: core.EP{{Duration: 500, Nodes: 5}}},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := Parse([]byte(`{"applications":[]}`), 7); err != nil || got.Nodes != 7 || len(got.Applications) != 0 {
		t.Errorf("the size from outside: %+v, %v", got, err)
	}
	if got, err := Parse([]byte(`{"nodes":3,"applications":[]}`), 7); err != nil || got.Nodes != 7 {
		t.Errorf("the size from outside goes before the one inside: %+v, %v", got, err)
	}
}

func TestAWrongProblemIsRefusedWithLineAndField(t *testing.T) {
	const one = `"applications":[{"id":"a","ep":[[5,1]]}]`
	for _, test := range []struct{ text, want string }{
		{"", "line 1: not JSON: unexpected end"},
		{"\n\n{", "line 3: not JSON: unexpected end"},
		{"{\n\"nodes\":1,\n}", "line 3: not JSON: invalid character '}'"},
		{`{"nodes":1,` + one + "}\n{}", "line 2: not JSON: invalid character '{' after top-level value"},
		{`{"nodes":NaN}`, "nodes: not JSON: invalid character 'N'"},
		{`{"nodes":9,"applications":[{"id":"a","ep":"1x1s"},{"id":"b","ep":[[1,1],[5,-Infinity]]}]}`, "applications[1].ep[1][1]: not JSON: invalid character 'I'"},
		{`{"nodes":9,"busy":[[1,2],[3,`, "busy[1][1]: not JSON: unexpected end"},
		{`{"nodes":9,"a b":{"c":[{}, {"d":+1}]}}`, `"a b".c[1].d: not JSON: invalid character '+'`},
		{strings.Repeat("[", 20000), "line 1: [0][0][0][0][0][0][0][0]: not JSON: invalid character '[' exceeded max depth"},
		{"[]", "line 1: not a JSON object"},
		{"null", "line 1: not a JSON object"},
		{`{"nodes":1}`, "applications: missing"},
		{`{` + one + `}`, "nodes: the machine has 0 nodes"},
		{"{\n\"nodes\":-1," + one + `}`, "line 2: nodes: the machine has -1 nodes"},
		{`{"nodes":1000001,` + one + `}`, "nodes: the machine has 1000001 nodes"},
		{`{"nodes":"9",` + one + `}`, "nodes: not a whole number"},
		{`{"nodes":1.5,` + one + `}`, "nodes: not a whole number"},
		{`{"nodes":null,` + one + `}`, "nodes: not a whole number"},
		{`{"nodes":9,"busy":[[5,null]],` + one + `}`, `busy[0]: "[5,null]" is not a pair`},
		{`{"nodes":1e99,` + one + `}`, "nodes: not a whole number"},
		{`{"nodes":1,"nodes":2,` + one + `}`, `nodes: given twice`},
		{"{\"nodes\":1,\n\"n\\nöd\":2," + one + `}`, `line 2: "n\n\u00f6d": unknown field`},
		{`{"nodes":9,"busy":7,` + one + `}`, "busy: not a profile"},
		{`{"nodes":9,"busy":null,` + one + `}`, "busy: not a profile"},
		{`{"nodes":9,"busy":[[5,10]],` + one + `}`, "busy[0]: 10 nodes for 5 seconds"},
		{`{"nodes":9,"busy":[[5,1],[0,1]],` + one + `}`, "busy[1]: 1 nodes for 0 seconds"},
		{`{"nodes":9,"busy":[[315360000,1],[1,1]],` + one + `}`, "busy[1]: occupation beyond"},
		{`{"nodes":9,"applications":{}}`, "applications: not a list"},
		{`{"nodes":9,"applications":[7]}`, "applications[0]: not an object"},
		{`{"nodes":9,"applications":[{"id":"a"}]}`, "applications[0].ep: missing"},
		{`{"nodes":9,"applications":[{"ep":"1x1s"}]}`, "applications[0].id: missing"},
		{`{"nodes":9,"applications":[{"id":7,"ep":"1x1s"}]}`, "applications[0].id: not a string"},
		{`{"nodes":9,"applications":[{"id":"","ep":"1x1s"}]}`, "applications[0].id: not a string"},
		{`{"nodes":9,"applications":[{"id":"a","ep":"1x1s","start":3}]}`, `applications[0].start: unknown field`},
		{"{\"nodes\":9,\"applications\":[\n{\"id\":\"a\",\"ep\":\"1x1s\"},\n{\"id\":\"b\",\n\"ep\":\"1x100\"}]}",
			`line 4: applications[1].ep: evolution profile, column 3: "100" is not a duration`},
		{`{"nodes":9,"applications":[{"id":"a","ep":7}]}`, "applications[0].ep: not a profile"},
		{`{"nodes":9,"applications":[{"id":"a","ep":[]}]}`, "applications[0].ep: evolution profile: no steps"},
		{`{"nodes":9,"applications":[{"id":"a","ep":[[1,2],[3]]}]}`, `applications[0].ep[1]: "[3]" is not a pair`},
		{`{"nodes":9,"applications":[{"id":"a","ep":[[1,2.5]]}]}`, `applications[0].ep[0]: "[1,2.5]" is not a pair`},
		{`{"nodes":9,"applications":[{"id":"a","ep":[[99999999999999999999,2]]}]}`, `applications[0].ep[0]: `},
		{`{"nodes":9,"applications":[{"id":"a","ep":[[9223372036854775807,2]]}]}`, `applications[0].ep[0]: evolution profile, step 1: duration`},
		{`{"nodes":9,"applications":[{"id":"a","ep":[[1,10]]}]}`, "applications[0].ep[0]: evolution profile, step 1: 10 nodes are not 1 to 9"},
		{`{"nodes":9,"applications":[{"id":"a","ep":[[1,0]]}]}`, "applications[0].ep[0]: evolution profile, step 1: 0 nodes"},
		{`{"nodes":9,"applications":[{"id":"a","ep":[[1,1],[-5,2]]}]}`, "applications[0].ep[1]: evolution profile, step 2: duration -5 is not"},
		{"{\"nodes\":9,\"applications\":[{\"id\":\"a\",\"ep\":[[1,1]]},\n{\"id\":\"a\",\"ep\":[[1,1]]}]}", `line 2: applications[1].id: "a" names two`},
		{`{"nodes":9,"applications":[{"id":"a","ep":[` + strings.Repeat("[1,1],", 1_000_000) + `[1,1]]}]}`, "applications[0].ep: 1000001 steps; at most 1024"},
		{`{"nodes":9,"busy":[` + strings.Repeat("[1,1],", 1_000_000) + `[1,1]],` + one + `}`, "busy: 1000001 steps; at most 100000"},
		{`{"nodes":1000000,"applications":[` + manyYears(4000) + `]}`, "applications[3655].ep: the applications may last so long"},
	} {
		_, err := Parse([]byte(test.text), 0)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%.200s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// manyYears returns applications of ten years each.
func manyYears(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":"%d","ep":"1x3650d"}`, i))
	}
	return strings.Join(all, ",")
}

func FuzzParseProblem(f *testing.F) {
	for _, seed := range []string{
		`{"nodes":100,"busy":[[1200,10]],"applications":[{"id":"a","ep":[[500,5],[3600,10]]},{"id":"b","ep":"5x500s"}]}`,
		`{"nodes":1,"applications":[]}`, `{"nodes":1,"busy":null}`, `[{]`, `{"a":{"b":[[]]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(text, 0)
		if err != nil {
			if i := strings.IndexFunc(err.Error(), func(r rune) bool { return r < ' ' }); i >= 0 {
				t.Fatalf("not one line: %q", err)
			}
			return
		}
		if len(p.Applications) > 20 {
			return
		}
		for _, name := range ep.Names() {
			a, err := ep.ParseAlgorithm(name)
			if err != nil {
				t.Fatal(err)
			}
			machine := p.Profile()
			if _, err := ep.Schedule(machine, p.Profiles(), nil, a); err != nil {
				t.Fatalf("%s: an accepted problem cannot be scheduled: %v", name, err)
			}
			if used := machine.Max(-core.Forever, core.Forever); used > p.Nodes {
				t.Fatalf("%s: %d nodes used of %d", name, used, p.Nodes)
			}
		}
	})
}
