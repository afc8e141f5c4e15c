// Package journald writes log lines to systemd's journal with the fields ACCORDION_JOB and
// ACCORDION_CLUSTER, so that they can be searched. It is not the sidecar's own journal (package
// journal).
//
//	options := hclog.LoggerOptions{Name: "accordion", Level: hclog.Info, Output: os.Stderr}
//	log := hclog.New(&options)
//	if journald.Reads(os.Stderr) {
//		log = journald.New(options)
//	}
//	log.Info("started", "cluster", "a", "job", 17) // journalctl ACCORDION_JOB=17
package journald

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/hashicorp/go-hclog"
)

// Reads reports whether systemd's journal reads w: w is standard error, and standard error is
// connected to the journal.
func Reads(w io.Writer) bool {
	if w != os.Stderr {
		return false
	}
	is, err := journal.StderrIsJournalStream()
	return err == nil && is
}

// New returns a logger that writes to the journal in the format of options, without the time, which
// the journal has. A line that the journal does not accept is written to the output of options
// instead.
func New(options hclog.LoggerOptions) hclog.Logger {
	s := &sink{fallback: options.Output}
	name := options.Name
	options.Name, options.Output, options.DisableTime, options.Mutex = "", &s.line, true, nil
	s.text = hclog.New(&options)
	log := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: name, Level: options.Level, Output: io.Discard})
	log.RegisterSink(s)
	return log
}

// A sink receives the lines of a logger and of all loggers derived from it.
type sink struct {
	mu       sync.Mutex
	text     hclog.Logger // writes the text of a line into `line`
	line     bytes.Buffer
	fallback io.Writer
}

var priorities = map[hclog.Level]journal.Priority{hclog.Error: journal.PriErr, hclog.Warn: journal.PriWarning, hclog.Info: journal.PriInfo}

// Accept writes a line to the journal. hclog calls it for lines of all levels.
func (s *sink) Accept(name string, level hclog.Level, text string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.Reset()
	s.text.Named(name).Log(level, text, args...)
	if s.line.Len() == 0 { // below the configured level
		return
	}
	priority, is := priorities[level]
	if !is {
		priority = journal.PriDebug
	}
	if journal.Send(strings.TrimSuffix(s.line.String(), "\n"), priority, fields(args)) != nil {
		s.fallback.Write(s.line.Bytes()) //nolint:errcheck // there is no other place to report the error
	}
}

// fields returns the journal fields of a line.
func fields(args []any) map[string]string {
	all := map[string]string{"SYSLOG_IDENTIFIER": "accordion"}
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "job":
			all["ACCORDION_JOB"] = fmt.Sprint(args[i+1])
		case "cluster":
			all["ACCORDION_CLUSTER"] = fmt.Sprint(args[i+1])
		}
	}
	return all
}
