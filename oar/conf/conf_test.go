package conf_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/oar/conf"
)

const debian = `# Database type ("mysql" or "Pg")
DB_TYPE="Pg"
DB_HOSTNAME="db.site.org"
DB_PORT="5433"
DB_BASE_NAME="oar"
  DB_BASE_LOGIN = 'oar' # the owner
DB_BASE_PASSWD="a=password"
DB_BASE_LOGIN_RO="oar_ro"
DB_BASE_PASSWD_RO=secret
#SCHEDULER_JOB_SECURITY_TIME="9"
SCHEDULER_JOB_SECURITY_TIME="60"
SCHEDULER_JOB_SECURITY_TIME="5"
SCHEDULER_RESOURCE_ORDER=state_num ASC, network_address ASC  # OAR takes all up to here
SERVER_HOSTNAME="oar.site.org"
OPENSSH_CMD="/usr/bin/ssh -p 6667"
SCHEDULER_AVAILABLE_SUSPENDED_RESOURCE_TYPE="default licence  VLAN"
JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD="cpuset"
JOB_RESOURCE_MANAGER_FILE="site/manager.pl"
CPUSET_PATH="/oar"
COMPUTE_THREAD_SIBLINGS="yes"
OAR_RUNTIME_DIRECTORY="/var/lib/oar/"
OAR_SSH_CONNECTION_TIMEOUT="30"
SERVER_PROLOGUE_EPILOGUE_TIMEOUT="50"
NODE_FILE_DB_FIELD_DISTINCT_VALUES="core"
ACCORDION_POLICY="scojo-p:nonpredictive" # ours
ACCORDION_STATISTICS=/etc/accordion/s.json
`

func TestOARsConfigurationIsReadAsOARReadsIt(t *testing.T) {
	got, err := conf.Parse(strings.NewReader(debian), "oar.conf")
	if err != nil {
		t.Fatal(err)
	}
	want := conf.Conf{Type: "Pg", Host: "db.site.org", Port: 5433, Database: "oar",
		Login: conf.Login{User: "oar", Password: "a=password"}, ReadOnly: conf.Login{User: "oar_ro", Password: "secret"},
		SecurityTime: 5, Pause: 5, Order: "state_num ASC, network_address ASC", SuspendedFree: []string{"default", "licence", "VLAN"}, Besteffort: 300, EarlyLaunch: true,
		Server: "oar.site.org", ServerPort: 6666, Remote: "/usr/bin/ssh -p 6667", EpilogueTimeout: 50 * time.Second,
		Manager: conf.Manager{Property: "cpuset", File: "/usr/lib/oar/site/manager.pl", Cpusets: "/oar", Siblings: "yes", Patience: 30 * time.Second, LogLevel: 2,
			Runtime: "/var/lib/oar", NodeFile: conf.NodeFile{Property: "network_address", Distinct: "core"}},
		Policy: conf.Policy{File: "oar.conf", Name: conf.Setting{Value: "scojo-p:nonpredictive", Line: 25}, Statistics: conf.Setting{Value: "/etc/accordion/s.json", Line: 26}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDefaultsAreThoseOfOAR(t *testing.T) {
	got, err := conf.Parse(strings.NewReader("DB_TYPE=mysql\nDB_PORT=\"\"\n"), "oar.conf")
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Manager; m.Used() || m.File != "/etc/oar/job_resource_manager.pl" || m.Runtime != "/tmp/oar_runtime" || m.Patience != 2*time.Minute || got.EpiloguePatience() != 20*time.Second {
		t.Errorf("%+v", m)
	}
	if got.Port != 3306 || got.Host != "localhost" || got.SecurityTime != 60 || got.Order == "" || len(got.SuspendedFree) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAPassComesWithinTwoPausesAndLeavesSecondsBehindAJob(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"", 60 + 2*5 + 2},
		{"SCHEDULER_JOB_SECURITY_TIME=1\nSCHEDULER_MIN_TIME_BETWEEN_2_CALLS=0\n", 1 + 2},
		{"SCHEDULER_JOB_SECURITY_TIME=0\nSCHEDULER_MIN_TIME_BETWEEN_2_CALLS=30\n", 2*30 + 2},
	} {
		got, err := conf.Parse(strings.NewReader("DB_TYPE=Pg\n"+c.text), "oar.conf")
		if err != nil || got.Round() != c.want {
			t.Errorf("%q: a job's place is %d s longer, %v; want %d", c.text, got.Round(), err, c.want)
		}
	}
}

func TestAWrongConfigurationIsNamedWithItsLine(t *testing.T) {
	for _, test := range []struct{ text, says string }{
		{"DB_TYPE=Pg\nDB_PORT=many\n", `oar.conf:2: DB_PORT is "many"`},
		{"DB_TYPE=Pg\nDB_PORT=99999\n", "oar.conf:2: DB_PORT"},
		{"\nDB_TYPE=Oracle\n", `oar.conf:2: DB_TYPE is "Oracle"`},
		{"", `oar.conf: DB_TYPE is ""`},
		{"DB_TYPE=Pg\nSCHEDULER_JOB_SECURITY_TIME=-1\n", "oar.conf:2: SCHEDULER_JOB_SECURITY_TIME"},
		{"DB_TYPE=Pg\nJOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD=\"cpuset; drop\"\n", `oar.conf:2: JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD is "cpuset; drop", and not the name of a property`},
	} {
		_, err := conf.Parse(strings.NewReader(test.text), "oar.conf")
		var wrong *conf.Error
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%q: %v, want %s", test.text, err, test.says)
		}
	}
	if _, err := conf.Read("/no/such/oar.conf"); err == nil || !strings.Contains(err.Error(), "/no/such/oar.conf") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzConfiguration(f *testing.F) {
	f.Add(debian)
	f.Add("DB_TYPE=\"Pg\nDB_PORT='")
	f.Fuzz(func(t *testing.T, text string) {
		conf, err := conf.Parse(strings.NewReader(text), "oar.conf")
		if err == nil && (conf.Type != "Pg" && conf.Type != "mysql" || conf.Port < 1 || conf.SecurityTime < 0 || conf.Host == "") {
			t.Errorf("%q gives %+v", text, conf)
		}
	})
}
