// Package conf reads OAR's configuration, oar.conf. It can also change one line of the file and leave the rest
// unchanged.
//
//	c, err := conf.Read(conf.DefaultFile)
package conf

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"accordion/core"
)

// DefaultFile is the path of oar.conf unless the environment variable OARCONFFILE names another.
const DefaultFile = "/etc/oar/oar.conf"

// Conf is what Accordion needs from oar.conf.
type Conf struct {
	Type     string // type of the database, Pg or mysql
	Host     string
	Port     int
	Database string
	Login    Login
	ReadOnly Login // account for SQL that users write into requests

	SecurityTime core.Time // seconds between two jobs on a resource (SCHEDULER_JOB_SECURITY_TIME)
	Pause        core.Time // minimum number of seconds between two passes (SCHEDULER_MIN_TIME_BETWEEN_2_CALLS)
	Order        string    // SQL: the order in which resources are taken (SCHEDULER_RESOURCE_ORDER)

	// SuspendedFree lists the types of resources that other jobs may use while their job is suspended
	// (SCHEDULER_AVAILABLE_SUSPENDED_RESOURCE_TYPE).
	SuspendedFree []string

	// Besteffort is the number of seconds for which a pass plans a besteffort job, whatever the job's walltime.
	Besteffort core.Time

	// EarlyLaunch is set if OAR launches a job as soon as the scheduler has printed it, while the scheduler still plans other jobs
	// (SCHEDULER_LAUNCHER_OPTIMIZATION).
	EarlyLaunch bool

	Server     string // host of OAR's server; also the name of this cluster
	ServerPort int    // the server's port
	Remote     string // the command with which OAR's account reaches a node (OPENSSH_CMD)

	// EpilogueTimeout is how long OAR's server waits for its epilogue (SERVER_PROLOGUE_EPILOGUE_TIMEOUT).
	EpilogueTimeout time.Duration

	Manager Manager

	// Policy is Accordion's own setting: the policy by which a pass plans.
	Policy Policy
}

// Policy is the name of a policy and of a file with statistics of arrivals. Package scheduler parses and checks both;
// other commands ignore errors in them.
type Policy struct {
	File             string  // path of oar.conf
	Name, Statistics Setting // ACCORDION_POLICY, ACCORDION_STATISTICS
}

// Setting is the value of one line of oar.conf.
type Setting struct {
	Value string // "" if nothing is set
	Line  int    // line number from 1; 0 if the file has no line for it
}

// Accordion's own settings in oar.conf.
const (
	PolicySetting     = "ACCORDION_POLICY"
	StatisticsSetting = "ACCORDION_STATISTICS"
)

// Manager configures OAR's job resource manager: the program that OAR sends to each node to prepare it for a job and to
// clean it afterwards.
type Manager struct {
	// Property is the property of resources with the numbers of a resource's processors on its node
	// (JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD). If Property is empty, OAR calls no manager.
	Property string
	File     string // the program, in Perl (JOB_RESOURCE_MANAGER_FILE)
	Cpusets  string // directory of cpusets on a node (CPUSET_PATH); "" if no cpusets are made, only job keys
	Siblings string // "yes": use all threads of a processor (COMPUTE_THREAD_SIBLINGS)
	Always   string // type of resources that every job has (SCHEDULER_RESOURCES_ALWAYS_ASSIGNED_TYPE); "" if there is none

	// Patience is how long OAR waits for the manager on a node before it suspects the node (OAR_SSH_CONNECTION_TIMEOUT).
	Patience time.Duration

	LogLevel core.Time // log level, 2 to 5 (LOG_LEVEL); from 3 on the manager logs what it does
	Runtime  string    // directory of OAR's files for jobs on a node (OAR_RUNTIME_DIRECTORY)
	NodeFile NodeFile
}

// Used reports whether OAR prepares nodes for jobs.
func (m Manager) Used() bool { return m.Property != "" }

// NodeFile describes the lines of a job's node file.
type NodeFile struct {
	Property string // property of resources that a line shows (NODE_FILE_DB_FIELD)
	Distinct string // property of resources with one line for each distinct value (NODE_FILE_DB_FIELD_DISTINCT_VALUES)
}

// Login is an account of the database.
type Login struct{ User, Password string }

// An Error names a wrong line of oar.conf, and what would be right.
type Error struct {
	File string
	Line int // from 1; 0 if the setting is missing
	Why  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}

// Read parses the file. If its contents are wrong, the error is an *Error.
func Read(file string) (Conf, error) {
	f, err := os.Open(file)
	if err != nil {
		return Conf{}, fmt.Errorf("reading OAR's configuration: %w", err)
	}
	defer f.Close()
	return Parse(f, file)
}

// Parse parses the text of oar.conf. file is its name, for error messages. Parse ignores settings that Accordion does
// not need.
func Parse(text io.Reader, file string) (Conf, error) {
	lines, values := map[string]int{}, map[string]string{}
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, 1<<20)
	n := 0
	for scan.Scan() {
		n++
		if name, value := assigned(scan.Text()); name != "" {
			if value == `""` || value == "''" {
				value = "" // as if the line were missing
			}
			lines[name], values[name] = n, value
		}
	}
	if err := scan.Err(); err != nil {
		return Conf{}, &Error{file, n + 1, err.Error()}
	}
	r := confReader{file: file, lines: lines, values: values}
	conf := Conf{
		Type:          r.text("DB_TYPE", ""),
		Host:          r.text("DB_HOSTNAME", "localhost"),
		Database:      r.text("DB_BASE_NAME", "oar"),
		Login:         Login{r.text("DB_BASE_LOGIN", "oar"), values["DB_BASE_PASSWD"]},
		ReadOnly:      Login{r.text("DB_BASE_LOGIN_RO", "oar_ro"), values["DB_BASE_PASSWD_RO"]},
		EarlyLaunch:   r.text("SCHEDULER_LAUNCHER_OPTIMIZATION", "yes") == "yes",
		SecurityTime:  r.number("SCHEDULER_JOB_SECURITY_TIME", 60, 0, 1<<20),
		Pause:         r.number("SCHEDULER_MIN_TIME_BETWEEN_2_CALLS", 5, 0, 1<<20),
		Server:        r.text("SERVER_HOSTNAME", "localhost"),
		ServerPort:    int(r.number("SERVER_PORT", 6666, 1, 65535)),
		Remote:        r.text("OPENSSH_CMD", "ssh"),
		Order:         r.text("SCHEDULER_RESOURCE_ORDER", "network_address ASC, resource_id ASC"),
		SuspendedFree: strings.Fields(r.text("SCHEDULER_AVAILABLE_SUSPENDED_RESOURCE_TYPE", "default")),
	}
	conf.EpilogueTimeout = time.Duration(r.number("SERVER_PROLOGUE_EPILOGUE_TIMEOUT", 60, 1, 1<<20)) * time.Second
	conf.Manager = Manager{
		Property: r.property("JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD", ""),
		File:     r.text("JOB_RESOURCE_MANAGER_FILE", "/etc/oar/job_resource_manager.pl"),
		Cpusets:  r.text("CPUSET_PATH", ""),
		Siblings: r.text("COMPUTE_THREAD_SIBLINGS", "no"),
		Always:   r.text("SCHEDULER_RESOURCES_ALWAYS_ASSIGNED_TYPE", ""),
		Patience: time.Duration(r.number("OAR_SSH_CONNECTION_TIMEOUT", 120, 1, 1<<20)) * time.Second,
		LogLevel: r.number("LOG_LEVEL", 2, 0, 9),
		Runtime:  strings.TrimRight(r.text("OAR_RUNTIME_DIRECTORY", DefaultRuntime), "/"),
		NodeFile: NodeFile{Property: r.property("NODE_FILE_DB_FIELD", "network_address"), Distinct: r.property("NODE_FILE_DB_FIELD_DISTINCT_VALUES", "resource_id")},
	}
	conf.Policy = Policy{file, Setting{values[PolicySetting], lines[PolicySetting]}, Setting{values[StatisticsSetting], lines[StatisticsSetting]}}
	if !strings.HasPrefix(conf.Manager.File, "/") {
		conf.Manager.File = filepath.Join(DefaultOARDir, conf.Manager.File)
	}
	port := core.Time(5432)
	if conf.Type == "mysql" {
		port = 3306
	}
	conf.Port = int(r.number("DB_PORT", port, 1, 65535))
	conf.Besteffort = max(5*60, conf.SecurityTime, r.number("SCHEDULER_BESTEFFORT_KILL_DURATION_BEFORE_RESERVATION", 0, 0, 1<<20))
	if conf.Type != "Pg" && conf.Type != "mysql" {
		r.fail("DB_TYPE", "DB_TYPE is %s, and not Pg or mysql", core.Shown(conf.Type))
	}
	return conf, r.wrong
}

// DefaultOARDir is where Debian installs OAR's programs.
const DefaultOARDir = "/usr/lib/oar"

// DefaultRuntime is the value of OAR_RUNTIME_DIRECTORY if oar.conf does not set it. Debian's oar.conf sets /var/lib/oar.
const DefaultRuntime = "/tmp/oar_runtime"

// confReader looks up settings and keeps the first error.
type confReader struct {
	file   string
	lines  map[string]int
	values map[string]string
	wrong  error
}

func (r *confReader) text(name, otherwise string) string {
	if r.values[name] == "" {
		return otherwise
	}
	return r.values[name]
}

// property returns the name of a column of resources that is safe to use in a query.
func (r *confReader) property(name, otherwise string) string {
	value := r.text(name, otherwise)
	if value != "" && !Column.MatchString(value) {
		r.fail(name, "%s is %s, and not the name of a property of resources", name, core.Shown(value))
		return otherwise
	}
	return value
}

func (r *confReader) number(name string, otherwise, least, most core.Time) core.Time {
	text := r.values[name]
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		r.fail(name, "%s is %s, and not a number from %d to %d", name, core.Shown(text), least, most)
		return otherwise
	}
	return n
}

func (r *confReader) fail(name, format string, values ...any) {
	if r.wrong == nil {
		r.wrong = &Error{r.file, r.lines[name], fmt.Sprintf(format, values...)}
	}
}

// Column matches names that are safe to use in a query.
var Column = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// LateKill is the longest time, in seconds, for which OAR lets a job run past its walltime. OAR's server looks for
// such jobs every ten seconds.
const LateKill core.Time = 12

// Round returns a number of seconds. A pass starts a job on nodes only if they are free for the job's walltime plus
// these seconds. These seconds cover the wait for the pass, and the pause that a pass keeps free after a job. OAR
// delays a pass that is requested just after another pass by up to twice the minimum pause between passes. OAR and
// Accordion each round up by one second.
func (c Conf) Round() core.Time { return 2*c.Pause + 2 + c.SecurityTime }

// EpiloguePatience returns how long the server's epilogue may take. OAR's server waits for the epilogue, and switches all queues off if the
// epilogue exceeds EpilogueTimeout.
func (c Conf) EpiloguePatience() time.Duration { return min(LongestEpilogue, c.EpilogueTimeout) / 2 }

// LongestEpilogue is an upper limit for the epilogue. It is twice the longest time that Accordion's epilogue takes, because the site's own
// epilogue runs after Accordion's.
const LongestEpilogue = 40 * time.Second
