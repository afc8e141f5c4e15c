package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/slurm/output"
)

func TestTheLinesThatSlurmConfLacks(t *testing.T) {
	fit := output.Configuration{"JobSubmitPlugins": "lua", "SchedulerParameters": "bf_interval=10,permit_job_expansion", "BatchStartTimeout": "65000 sec",
		"TaskPlugin": "task/affinity"}
	in := output.Inventory{Partitions: []output.Partition{{Name: "main", OverSubscribe: "YES:2"}, {Name: "other", OverSubscribe: "NO"}}}
	for _, c := range []struct {
		name, partition string
		change          output.Configuration
		want            []string
	}{
		{"nothing", "main", nil, nil},
		{"all of them", "other", output.Configuration{"JobSubmitPlugins": "", "SchedulerParameters": "(null)", "BatchStartTimeout": "10 sec"},
			[]string{"JobSubmitPlugins=lua", "SchedulerParameters=permit_job_expansion", "BatchStartTimeout=65000", "PartitionName=other … OverSubscribe=YES:2"}},
		{"what is there stays", "main", output.Configuration{"JobSubmitPlugins": "throttle", "SchedulerParameters": "bf_interval=10,defer"},
			[]string{"JobSubmitPlugins=throttle,lua", "SchedulerParameters=bf_interval=10,defer,permit_job_expansion"}},
		{"nothing is bound", "other", output.Configuration{"TaskPlugin": "task/none"}, nil},
	} {
		conf := output.Configuration{}
		for _, from := range []output.Configuration{fit, c.change} {
			for key, value := range from {
				conf[key] = value
			}
		}
		var got []string
		for _, l := range Lines(conf, in, c.partition) {
			if l.What == "" {
				t.Errorf("%s: the purpose of %s is missing", c.name, l.Text)
			}
			got = append(got, l.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTheFilesOfASlurm(t *testing.T) {
	c := output.Configuration{"SLURM_CONF": "/etc/slurm/slurm.conf", "AuthInfo": "ttl=300,socket=/run/other/munge"}
	texts := map[string]string{}
	for _, f := range Files(c, Wish{Config: "/etc/accordion/accordion.toml", Partition: "main", Listen: "0.0.0.0:6820", Address: "ctl:6820", Web: "127.0.0.1:9821", Plugin: "-- the plug-in", ShortestStep: 10 * time.Second}) {
		texts[f.Path] = f.Text
	}
	for path, want := range map[string]string{
		"/etc/accordion/accordion.toml": "partition = \"main\"\nlimits = \"/etc/slurm/accordion_limits.lua\"\n\n[session]\nlisten = \"0.0.0.0:6820\"\nmunge_socket = \"/run/other/munge\"\n\n[web]\nlisten = \"127.0.0.1:9821\"\n",
		"/etc/slurm/accordion.lua":      `return { partitions = { "main" }, address = "ctl:6820", munge_socket = "/run/other/munge", shortest_step = 10 }`,
		"/etc/slurm/job_submit.lua":     "-- the plug-in",
	} {
		if !strings.Contains(texts[path], want) {
			t.Errorf("%s is\n%s\nand has no\n%s", path, texts[path], want)
		}
	}
}
