package slurm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSbatchSaysSinceWhenTheSidecarIsAway(t *testing.T) {
	const evolving = "#!/bin/sh\n#EP 2x20s,4x20s\n"
	const lives = `return { ["accordion-lease"] = { end_time = 9999999999 } }`
	const dead = `return { ["accordion-lease"] = { end_time = 1000 } }`
	at := func(second int64) string { return time.Unix(second, 0).Format(time.DateTime) }
	second := time.Now().Unix() - 7200
	state := func(second int64) string {
		return fmt.Sprintf(`{"running":true,"pid":7,"cluster":"lab","since":%d,"at":%d}`+"\n", second-50, second)
	}
	limits := func(second int64) string {
		return fmt.Sprintf("-- second:%d\nreturn { associations = {}, parents = {}, qos = {} }\n", second)
	}
	for name, test := range map[string]struct {
		files  map[string]string
		script string
		says   string
	}{
		"it lives":                   {map[string]string{"reservations.lua": lives}, evolving, ""},
		"Slurm tells nothing":        {nil, evolving, ""},
		"an ordinary job":            {map[string]string{"reservations.lua": dead}, "#!/bin/sh\n", ""},
		"nothing was ever seen":      {map[string]string{"reservations.lua": "return {}"}, evolving, "accordion: no sidecar is running: the job waits until one is"},
		"its state file":             {map[string]string{"reservations.lua": dead, "run.state": state(second)}, evolving, "accordion: the sidecar is away since " + at(second) + ": the job waits until it is back"},
		"its lease is deleted":       {map[string]string{"reservations.lua": "return {}", "run.state": state(second)}, evolving, "accordion: the sidecar is away since " + at(second) + ": the job waits until it is back"},
		"the plug-in's file":         {map[string]string{"reservations.lua": dead, "accordion_limits.lua": limits(second)}, evolving, "accordion: the sidecar is away since " + at(second) + ": the job waits until it is back"},
		"the newest of the two":      {map[string]string{"reservations.lua": dead, "run.state": state(second - 90), "accordion_limits.lua": limits(second)}, evolving, "away since " + at(second)},
		"a state that is no state":   {map[string]string{"reservations.lua": dead, "run.state": "\"at\":x\n"}, evolving, "accordion: no sidecar is running: the job waits until one is"},
		"an empty file of the state": {map[string]string{"reservations.lua": dead, "run.state": ""}, evolving, "accordion: no sidecar is running: the job waits until one is"},
	} {
		dir := t.TempDir()
		files := map[string]string{"accordion.lua": fmt.Sprintf("return { partitions = { \"main\" }, socket = %q }", dir+"/run")}
		for file, text := range test.files {
			if file == "run.state" {
				write(t, dir+"/run.state", text)
				continue
			}
			files[file] = text
		}
		got := submitWithFiles(t, files, "16", []fields{{"script": test.script}})[0]
		said, _ := got["user"].(string)
		if got["rc"] != int64(0) || test.says == "" && said != "" || !strings.Contains(said, test.says) {
			t.Errorf("%s: rc %v, %q; want %q", name, got["rc"], said, test.says)
		}
	}
}
