package oar

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"accordion/core"
)

// DefaultConf is where OAR's configuration is, unless OARCONFFILE in the environment says otherwise.
const DefaultConf = "/etc/oar/oar.conf"

// Conf is what the scheduler needs of oar.conf.
type Conf struct {
	Type     string // of the database: Pg or mysql
	Host     string
	Port     int
	Database string
	Login    Login
	ReadOnly Login // for what users may write into a request

	SecurityTime core.Time // seconds between two jobs on a resource (SCHEDULER_JOB_SECURITY_TIME)
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
}

// Login is an account of the database.
type Login struct{ User, Password string }

// A ConfError says which line of oar.conf is wrong, and what would be right.
type ConfError struct {
	File string
	Line int // from 1; 0: the setting is missing
	Why  string
}

func (e *ConfError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}

// ReadConf reads oar.conf. What is wrong with it is a *ConfError.
func ReadConf(file string) (Conf, error) {
	f, err := os.Open(file)
	if err != nil {
		return Conf{}, fmt.Errorf("reading OAR's configuration: %w", err)
	}
	defer f.Close()
	return ParseConf(f, file)
}

// ParseConf reads the text of oar.conf; file is its name, for messages. Settings that the scheduler does not need are not
// looked at.
func ParseConf(text io.Reader, file string) (Conf, error) {
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
		return Conf{}, &ConfError{file, n + 1, err.Error()}
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
		Server:        r.text("SERVER_HOSTNAME", "localhost"),
		ServerPort:    int(r.number("SERVER_PORT", 6666, 1, 65535)),
		Remote:        r.text("OPENSSH_CMD", "ssh"),
		Order:         r.text("SCHEDULER_RESOURCE_ORDER", "network_address ASC, resource_id ASC"),
		SuspendedFree: strings.Fields(r.text("SCHEDULER_AVAILABLE_SUSPENDED_RESOURCE_TYPE", "default")),
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
		r.wrong = &ConfError{r.file, r.lines[name], fmt.Sprintf(format, values...)}
	}
}
