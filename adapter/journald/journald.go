// Package journald gives lines of the log to systemd's journal, with fields by which they are found: ACCORDION_JOB and ACCORDION_CLUSTER. It is
// not the sidecar's own journal (package journal), and it reads nothing.
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

// Reads says whether what is written to w goes to systemd's journal: it is this process's standard error, and that is a stream of the journal's.
func Reads(w io.Writer) bool {
	if w != os.Stderr {
		return false
	}
	is, err := journal.StderrIsJournalStream()
	return err == nil && is
}

// New is a log whose lines go to the journal, as those of options would be written, but for the time, which the journal has. Where the journal
// does not take a line it goes to the output of options.
func New(options hclog.LoggerOptions) hclog.Logger {
	s := &sink{fallback: options.Output}
	name := options.Name
	options.Name, options.Output, options.DisableTime, options.Mutex = "", &s.line, true, nil
	s.text = hclog.New(&options)
	log := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: name, Level: options.Level, Output: io.Discard})
	log.RegisterSink(s)
	return log
}

// A sink is where lines of all loggers come together.
type sink struct {
	mu       sync.Mutex
	text     hclog.Logger // writes a line into line
	line     bytes.Buffer
	fallback io.Writer
}

var priorities = map[hclog.Level]journal.Priority{hclog.Error: journal.PriErr, hclog.Warn: journal.PriWarning, hclog.Info: journal.PriInfo}

// Accept is called for each line, of whatever level.
func (s *sink) Accept(name string, level hclog.Level, text string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.Reset()
	s.text.Named(name).Log(level, text, args...)
	if s.line.Len() == 0 { // of a level that is not wanted
		return
	}
	priority, is := priorities[level]
	if !is {
		priority = journal.PriDebug
	}
	if journal.Send(strings.TrimSuffix(s.line.String(), "\n"), priority, fields(args)) != nil {
		s.fallback.Write(s.line.Bytes()) //nolint:errcheck // there is nowhere else to say it
	}
}

// fields are those of a line's arguments that the journal is to find it by.
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
