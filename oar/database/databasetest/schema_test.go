package databasetest

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"accordion/internal/testenv"
)

var recordFlag = flag.Bool("accordion.record", false, "write oar.sql again, by the OAR that is installed")

// installed is where OAR's packages install the script that makes the tables.
const installed = "/usr/lib/oar/database/pg_structure.sql"

// used lists the tables that Accordion reads or writes.
var used = []string{"assigned_resources", "challenges", "event_logs", "event_log_hostnames", "frag_jobs", "gantt_jobs_predictions", "gantt_jobs_predictions_visu",
	"gantt_jobs_resources", "gantt_jobs_resources_visu", "job_dependencies", "job_resource_descriptions", "job_resource_groups", "job_state_logs", "job_types", "jobs",
	"moldable_job_descriptions", "queues", "resources"}

// TestTheTablesAreThoseOfOAR compares oar.sql with the OAR that is installed on this machine.
func TestTheTablesAreThoseOfOAR(t *testing.T) {
	testenv.Needs(t, testenv.OAR)
	text, err := os.ReadFile(installed)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range used {
		table := regexp.MustCompile(`(?ms)^CREATE TABLE ` + name + ` \(.*?^\);\n`).FindString(string(text))
		if table == "" {
			t.Errorf("%s makes no table %s", installed, name)
		}
		all.WriteString(table)
	}
	if *recordFlag {
		if err := os.WriteFile("oar.sql", []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if all.String() != Schema {
		t.Errorf("oar.sql differs from %s: write it again with -accordion.record", installed)
	}
}
