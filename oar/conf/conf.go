// Package conf is OAR's configuration, oar.conf: reading it, and changing a line of it so that the rest stays as it was.
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

// DefaultFile is where OAR's configuration is, unless OARCONFFILE in the environment says otherwise.
const DefaultFile = "/etc/oar/oar.conf"

// Conf is what the scheduler needs of oar.conf.
type Conf struct {
	Type     string // of the database: Pg or mysql
	Host     string
	Port     int
	Database string
	Login    Login
	ReadOnly Login // for what users may write into a request

	SecurityTime core.Time // seconds between two jobs on a resource (SCHEDULER_JOB_SECURITY_TIME)
	Pause        core.Time // seconds between two passes, at least (SCHEDULER_MIN_TIME_BETWEEN_2_CALLS)
	Order        string    // SQL: in which order resources are taken (SCHEDULER_RESOURCE_ORDER)

	// SuspendedFree are the types of resources that others may have while their job is suspended
	// (SCHEDULER_AVAILABLE_SUSPENDED_RESOURCE_TYPE).
	SuspendedFree []string

	// Besteffort is for how long the resources of a besteffort job are planned.
	Besteffort core.Time

	// EarlyLaunch says that OAR launches a job when its scheduler says so, while that still plans
	// (SCHEDULER_LAUNCHER_OPTIMIZATION).
	EarlyLaunch bool

	Server     string // host of OAR's server, and of this cluster's name
	ServerPort int    // where that listens
	Remote     string // the command by which OAR's account reaches a node: OPENSSH_CMD

	// EpilogueTimeout is how long OAR's server waits for its epilogue (SERVER_PROLOGUE_EPILOGUE_TIMEOUT).
	EpilogueTimeout time.Duration

	Manager Manager

	// Policy is what is ours: by which policy a pass plans.
	Policy Policy
}

// Policy is the name of a policy and a file of statistics of arrivals for it. Package pass reads both: to others they may be wrong.
type Policy struct {
	File             string  // oar.conf
	Name, Statistics Setting // ACCORDION_POLICY, ACCORDION_STATISTICS
}

// Setting is what a line of oar.conf says.
type Setting struct {
	Value string // "": nothing
	Line  int    // 0: there is none
}

// The lines of oar.conf that are ours.
const (
	PolicySetting     = "ACCORDION_POLICY"
	StatisticsSetting = "ACCORDION_STATISTICS"
)

// Manager is how OAR makes nodes ready for a job, and cleans them after it: by its job resource manager, a program that it sends to
// each node.
type Manager struct {
	// Property is that of resources which has the numbers of a resource's processors on its node
	// (JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD). "": OAR calls no manager.
	Property string
	File     string // the program, in Perl (JOB_RESOURCE_MANAGER_FILE)
	Cpusets  string // where cpusets lie on a node (CPUSET_PATH); "": none are made, job keys only
	Siblings string // "yes": with all threads of a processor (COMPUTE_THREAD_SIBLINGS)
	Always   string // type of resources that every job has (SCHEDULER_RESOURCES_ALWAYS_ASSIGNED_TYPE); "": none

	// Patience is for how long OAR waits for it on a node before it suspects the node (OAR_SSH_CONNECTION_TIMEOUT).
	Patience time.Duration

	LogLevel core.Time // 2 to 5 (LOG_LEVEL): from 3 on it says what it does
	Runtime  string    // directory of what OAR keeps of a job on a node (OAR_RUNTIME_DIRECTORY)
	NodeFile NodeFile
}

// Used says whether OAR makes nodes ready for a job.
func (m Manager) Used() bool { return m.Property != "" }

// NodeFile says what the lines of a job's node file are.
type NodeFile struct {
	Property string // of resources: a line is its value (NODE_FILE_DB_FIELD)
	Distinct string // of resources: there is a line for each of its values (NODE_FILE_DB_FIELD_DISTINCT_VALUES)
}

// Login is an account of the database.
type Login struct{ User, Password string }

// A Error says which line of oar.conf is wrong, and what would be right.
type Error struct {
	File string
	Line int // from 1; 0: the setting is missing
	Why  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}

// Read reads oar.conf. What is wrong with it is a *ConfError.
func Read(file string) (Conf, error) {
	f, err := os.Open(file)
	if err != nil {
		return Conf{}, fmt.Errorf("reading OAR's configuration: %w", err)
	}
	defer f.Close()
	return Parse(f, file)
}

// Parse reads the text of oar.conf; file is its name, for messages. Settings that the scheduler does not need are not
// looked at.
func Parse(text io.Reader, file string) (Conf, error) {
	lines, values := map[string]int{}, map[string]string{}
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, 1<<20)
	n := 0
	for scan.Scan() {
		n++
		if name, value := assigned(scan.Text()); name != "" {
			if value == `""` || value == "''" {
				value = "" // as if it were not there
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

// DefaultOARDir is where Debian has OAR's programs.
const DefaultOARDir = "/usr/lib/oar"

// DefaultRuntime is OAR_RUNTIME_DIRECTORY where oar.conf does not name one. Debian's oar.conf has /var/lib/oar.
const DefaultRuntime = "/tmp/oar_runtime"

// confReader takes settings and remembers the first that is wrong.
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

// property is the name of a column of resources, as it may stand in a query.
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

// Column is a name that may stand in a query.
var Column = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// LateKill is by how many seconds OAR is late, at most, when it ends a job that has reached its walltime: its server looks every ten seconds for such jobs.
const LateKill core.Time = 12

// Round is how many seconds longer than its walltime the place of a job must be that could begin, so that a pass begins it there: until a pass comes,
// and those that it leaves behind the job. One that is asked for just after another is laid aside for up to twice the pause between two; OAR and
// we round a second up each.
func (c Conf) Round() core.Time { return 2*c.Pause + 2 + c.SecurityTime }

// EpiloguePatience is how long the server's epilogue may take: OAR's server waits for it, and switches all of its queues off when it takes
// longer than OAR is told to wait.
func (c Conf) EpiloguePatience() time.Duration { return min(LongestEpilogue, c.EpilogueTimeout) / 2 }

// LongestEpilogue is twice as long as it ever takes: a site's own, which is run after it, has time, too.
const LongestEpilogue = 40 * time.Second
