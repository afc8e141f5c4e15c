package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"accordion/shim/allocation"
)

func TestACommandLineOfSshIsRead(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  Call
		err   string
	}{
		// command lines as MPICH 4 and 5 and Open MPI 4, 5 and 6 write them
		{words: []string{"-x", "n3", `"/usr/bin/hydra_pmi_proxy"`, "--control-port", "n1:34041", "--proxy-id", "2"},
			want: Call{Host: "n3", Command: `"/usr/bin/hydra_pmi_proxy" --control-port n1:34041 --proxy-id 2`}},
		{words: []string{"-x", "--external-launcher", "n3", "proxy", "--rmk", "user"}, want: Call{Host: "n3", Command: "proxy --rmk user"}},
		{words: []string{"n2", " orted", "-mca", "ess", `"env"`}, want: Call{Host: "n2", Command: ` orted -mca ess "env"`}},
		{words: []string{"n7", "( test ! -r ./.profile || . ./.profile;", "prted", ")"}, want: Call{Host: "n7", Command: "( test ! -r ./.profile || . ./.profile; prted )"}},
		// command lines as users and other launchers write them
		{words: []string{"-qnTlalice", "n3", "a"}, want: Call{Host: "n3", User: "alice", Command: "a", NoInput: true}},
		{words: []string{"-l", "alice", "-p", "22", "-oBatchMode=yes", "n3", "-n", "a", "-b"}, want: Call{Host: "n3", User: "alice", Command: "a -b", NoInput: true}},
		{words: []string{"bob@n3.cluster.org", "--", "-a"}, want: Call{Host: "n3.cluster.org", User: "bob", Command: "-a"}},
		{words: []string{"-xn", "--", "n3", "a"}, want: Call{Host: "n3", Command: "a", NoInput: true}},
		{words: nil, err: "which host?"},
		{words: []string{"-x"}, err: "which host?"},
		{words: []string{"bob@", "a"}, err: "which host?"},
		{words: []string{"n3"}, err: "which command on n3?"},
		{words: []string{"n3", "-n"}, err: "which command on n3?"},
		{words: []string{"-l"}, err: "-l needs a value"},
		{words: []string{"-z", "n3", "a"}, err: "ssh has no option -z"},
	} {
		got, err := Parse(c.words)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %+v, %v; want %s", c.words, got, err, c.err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.words, got, err, c.want)
		}
	}
}

// FuzzParse checks that Parse returns either an error of one line, or a host and a command.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"-x n3 a b", "-l u@h", "a@b c", "-- -- --", "-xlu n -n c", "--long n c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(strings.Split(text, " "))
		if err == nil && (c.Host == "" || c.Command == "" || strings.HasPrefix(c.Host, "-")) {
			t.Fatalf("%q: %+v", text, c)
		}
	})
}

func TestTheAllocationThatHasTheHostIsFound(t *testing.T) {
	job := map[string]string{"SLURM_JOB_ID": "42", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_CLUSTER_NAME": "of-this-test"}
	companions := map[string]string{"SLURM_JOB_ID": "42", "SLURM_JOB_NODELIST": "n[1-2]", allocation.Variable: "42:n[1-2] 57:n[3,5]"}
	for _, c := range []struct {
		env  map[string]string
		call Call
		want target
		err  string
	}{
		{companions, Call{Host: "n2"}, target{42, "n2"}, ""},
		{companions, Call{Host: "n5"}, target{57, "n5"}, ""},
		{companions, Call{Host: "n5.cluster.org", User: "alice"}, target{57, "n5"}, ""},
		{companions, Call{Host: "n4"}, target{}, "it is in none of the job's allocations: 42:n[1-2] 57:n[3,5]"},
		{companions, Call{Host: "n5", User: "bob"}, target{}, "as user bob: a job's steps are its own user's (alice)"},
		{job, Call{Host: "n2.cluster.org"}, target{42, "n2"}, ""},
		{job, Call{Host: "n9"}, target{42, "n9"}, ""}, // Slurm has to decide, because the environment may be outdated.
		{map[string]string{}, Call{Host: "n1"}, target{}, "this is no job of Slurm (SLURM_JOB_ID is not set)"},
		{map[string]string{"SLURM_JOB_ID": "42", allocation.Variable: "x"}, Call{Host: "n1"}, target{}, allocation.Variable + `: "x" is no allocation`},
	} {
		got, err := find(World{User: "alice", Getenv: func(name string) (string, bool) { v, set := c.env[name]; return v, set }}, c.call)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v in %v: %v, %v; want %v, %q", c.call, c.env, got, err, c.want, c.err)
		}
	}
}

func TestTheStepHasAllThatTheJobHasOfTheNode(t *testing.T) {
	got := target{57, "n3"}.arguments(Call{Command: `orted --daemonize -mca ess "env"`, NoInput: true}, "/bin/bash", "gpu:a100:2,nic:1")
	want := []string{"--jobid=57", "--nodes=1", "--ntasks=1", "--nodelist=n3", "--overlap", "--cpu-bind=none", "--mem=0", "--mpi=none",
		"--export=ALL", "--job-name=accordion-agent", "--gres=gpu:a100:2,nic:1", "--input=none", "--", "/bin/bash", "-c", `orted -mca ess "env"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if got := (target{57, "n3"}).arguments(Call{Command: "a"}, "/bin/sh", ""); strings.Contains(strings.Join(got, " "), "--gres") {
		t.Errorf("a node without devices: %q", got)
	}
}

func TestADaemonIsToldToStayInTheForeground(t *testing.T) {
	for command, want := range map[string]string{
		" orted --daemonize -mca a":                  " orted -mca a",
		`"/opt/o/bin/orted" --daemonize -mca a`:      `"/opt/o/bin/orted" -mca a`,
		"( x; /usr/bin/prted  --daemonize --prtemca": "( x; /usr/bin/prted --prtemca",
		"mine --daemonize":                           "mine --daemonize",
		"orted -mca --daemonize":                     "orted -mca --daemonize",
	} {
		if got := attached(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestDaemonDoesNotInheritLauncherVariables(t *testing.T) {
	environment := []string{"PATH=/bin", "OMPI_MCA_btl=tcp,self"}
	for _, v := range Launchers("/a", "/h", "/o", 200) {
		environment = append(environment, v.Name+"="+v.Value)
	}
	if !slices.Contains(environment, "OMPI_MCA_plm_rsh_num_concurrent=200") || !slices.Contains(environment, "HYDRA_HOST_FILE=/h") {
		t.Errorf("the launchers' variables: %v", environment)
	}
	if got := withoutLaunchers(environment); !slices.Equal(got, environment[:2]) {
		t.Errorf("left are %v", got)
	}
}

func TestTheLoginShellIsTheOneOfPasswd(t *testing.T) {
	for name, c := range map[string]struct{ entry, env, want string }{
		"passwd":         {"a:x:1:1:A:/home/a:/bin/tcsh", "/bin/zsh", "/bin/tcsh"},
		"no entry":       {"", "/bin/zsh", "/bin/zsh"},
		"no shell":       {"a:x:1:1:A:/home/a:", "/bin/zsh", "/bin/zsh"},
		"nothing":        {"", "", "/bin/sh"},
		"a locked login": {"a:x:1:1:A:/home/a:/usr/sbin/nologin", "/bin/zsh", "/bin/sh"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "getent"), []byte("#!/bin/sh\necho '"+c.entry+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		if got := LoginShell(context.Background(), 1, func(string) (string, bool) { return c.env, c.env != "" }); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
