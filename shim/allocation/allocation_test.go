package allocation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAListIsReadAndWritten(t *testing.T) {
	for text, want := range map[string]List{
		"":                         nil,
		"42:n[1-2]":                {{42, []string{"n1", "n2"}}},
		"42:n[1-2] 57:n[3,5]":      {{42, []string{"n1", "n2"}}, {57, []string{"n3", "n5"}}},
		"  57:n10,n9\t42:gpu1  \n": {{57, []string{"n9", "n10"}}, {42, []string{"gpu1"}}},
	} {
		got, err := Parse(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
		if again, err := Parse(got.String()); err != nil || !cmp.Equal(again, got) {
			t.Errorf("%q is written %q and read as %v, %v", text, got, again, err)
		}
	}
}

func TestAWrongListSaysWhichWordIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"n1":                 `"n1" is no allocation: want JOBID:NODES, as 42:n[1-2]`,
		"42":                 `"42" is no allocation`,
		"42:":                `"42:" is no allocation`,
		"0:n1":               `"0:n1" is no allocation`,
		"-1:n1":              `"-1:n1" is no allocation`,
		"42:n[1-":            "allocation 42: ",
		"42:n[1-3] 57:n3":    "node n3 is in the allocations 42 and 57",
		"42:n1,n1":           "node n1 is in the allocations 42 and 42",
		"42:n1 42:n2":        "allocation 42 appears twice",
		"42:n[1-2], 57:n[3]": "allocation 42: ",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, got, err, want)
		}
	}
}

func TestAHostIsFoundByItsShortName(t *testing.T) {
	list := List{{42, []string{"n1", "n2"}}, {57, []string{"n3", "gpu.a"}}}
	for host, want := range map[string]struct {
		job  int64
		node string
	}{
		"n2": {42, "n2"}, "n3": {57, "n3"}, "n3.cluster.org": {57, "n3"}, "gpu.a": {57, "gpu.a"}, "n4": {}, "n": {}, "": {}, "gpu": {},
	} {
		a, node, ok := list.Of(host)
		if a.Job != want.job || node != want.node || ok != (want.job != 0) {
			t.Errorf("%q is %s of %v, %v; want %v", host, node, a, ok, want)
		}
	}
}

func TestTheListOfTheJobIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
		err  string
	}{
		"no job":                     {env: map[string]string{Variable: "42:n1 57:n2"}},
		"exported":                   {env: map[string]string{"SLURM_JOB_ID": "42", Variable: "42:n1 57:n2"}, want: "42:n1 57:n2"},
		"in a companion's task":      {env: map[string]string{"SLURM_JOB_ID": "57", Variable: "42:n1 57:n2"}, want: "42:n1 57:n2"},
		"of the job that submitted":  {env: map[string]string{"SLURM_JOB_ID": "60", Variable: "42:n1 57:n2"}},
		"wrong":                      {env: map[string]string{"SLURM_JOB_ID": "42", Variable: "42"}, err: `ACCORDION_ALLOCATIONS: "42" is no allocation`},
		"neither exported nor there": {env: map[string]string{"SLURM_JOB_ID": "42"}},
	} {
		c.env["SLURM_CLUSTER_NAME"] = "of-this-test"
		got, err := Find(func(name string) (string, bool) { v, set := c.env[name]; return v, set })
		if got.String() != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.err)
		}
	}
}

func TestAHostsFileIsRead(t *testing.T) {
	const file = "# generation=1 step=2 steps=3 nodes=4 from=1795293641 until=1795293661\n# allocations 42:n[1-2] 57:n[3-4]\nn1\nn2\nn10\nn3\n"
	with := func(old, new string) string { return strings.Replace(file, old, new, 1) }
	whole := Hosts{Generation: 1, Step: 2, Steps: 3, Until: 1795293661, Nodes: []string{"n1", "n2", "n3", "n10"},
		Allocations: List{{42, []string{"n1", "n2"}}, {57, []string{"n3", "n4"}}}}
	plain := whole
	plain.Allocations = nil
	for name, c := range map[string]struct {
		text string
		want Hosts
		err  string
	}{
		"companions":      {text: file, want: whole},
		"none":            {text: with("# allocations 42:n[1-2] 57:n[3-4]\n", ""), want: plain},
		"later words":     {text: with("until", "later=x until"), want: whole},
		"later lines":     {text: with("# allocations", "# more of it\n#\n# allocations"), want: whole},
		"a wrong list":    {text: with("57:", "57;"), err: `"57;n[3-4]" is no allocation`},
		"a wrong number":  {text: with("step=2", "step=two"), err: `step: "two" is not a number`},
		"no nodes":        {text: "# generation=0\n", err: "it has no nodes"},
		"something else":  {text: "hello\n", err: "it does not begin like a hosts file"},
		"nothing":         {err: "it has no nodes"},
		"a line of 8 MiB": {text: "#" + strings.Repeat("x", maxHosts+1), err: "token too long"},
	} {
		got, err := parseHosts(strings.NewReader(c.text))
		if !cmp.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v; want %+v, %q", name, got, err, c.want, c.err)
		}
	}
}

func TestAHostsFileThatOthersMayHaveWrittenIsNotRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lab-42.hosts")
	if err := os.WriteFile(path, []byte("# generation=0\n# allocations 42:n1 57:n2\nn1\nn2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(dir, "lab-43.hosts")); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadHosts(path); err != nil || len(got.Allocations) != 2 {
		t.Errorf("the good one: %v, %v", got, err)
	}
	if got, err := ReadHosts(filepath.Join(dir, "lab-43.hosts")); err == nil {
		t.Errorf("a link: %v", got)
	}
	if got, err := ReadHosts(filepath.Join(dir, "lab-44.hosts")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v, %v", got, err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadHosts(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder of everybody's: %v, %v", got, err)
	}
}

// FuzzParse checks that Parse returns either an error or a list that is the same after it is written and parsed again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"42:n[1-2] 57:n[3,5]", "42:n1 42:n2", "1:n[1-", ":", "9223372036854775807:a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(list.String()); err != nil || !cmp.Equal(again, list) {
			t.Fatalf("%q is %v, written %q, read as %v, %v", text, list, list, again, err)
		}
	})
}

func TestNoNodeOfAListIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list List
		next := 1
		for i := range rapid.IntRange(1, 6).Draw(t, "allocations") {
			a := Allocation{Job: int64(i + 1)}
			for range rapid.IntRange(1, 5).Draw(t, "nodes") {
				a.Nodes = append(a.Nodes, "n"+string(rune('0'+next/10))+string(rune('0'+next%10)))
				next++
			}
			list = append(list, a)
		}
		got, err := Parse(list.String())
		if err != nil || !cmp.Equal(got, list) || len(got.Nodes()) != next-1 {
			t.Fatalf("%v is written %q and read as %v, %v", list, list, got, err)
		}
	})
}
