package config

import (
	"fmt"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core/ep"
	"accordion/core/policy"
	"accordion/core/sizing"
)

// setting describes one key of a file for values of type C: where the key is in the file, which values are allowed, and how a value is
// stored in a C.
type setting[C any] struct {
	section, key string
	want         string // completes "it must be …"
	put          func(c *C, value any) bool
	names        []string // the allowed names; an error message suggests the name that is most similar to the wrong one
}

// table describes all keys of a file for values of type C.
type table[C any] []setting[C]

// settings lists all keys of the configuration of one cluster, in the order of the example file.
var settings = table[Config]{
	text("", "cluster", "a name without spaces, such as \"slurm\"", plain, func(c *Config) *string { return &c.Cluster }),
	choice("", "system", func(c *Config) *string { return &c.System }, SystemSlurm, SystemOAR, SystemEmbedded),

	text("slurm", "partition", "one partition's name, such as \"main\"",
		func(s string) bool { return s != "" && plain(s) && !strings.Contains(s, ",") },
		func(c *Config) *string { return &c.Slurm.Partition }),
	text("slurm", "conf", "an absolute path, such as \"/etc/slurm/slurm.conf\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.Slurm.Conf }),
	text("slurm", "bin", "an absolute path, such as \"/usr/bin\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.Slurm.Bin }),
	duration("slurm", "timeout", time.Second, 5*time.Minute, "10s", func(c *Config) *time.Duration { return &c.Slurm.Timeout }),
	choice("slurm", "growth", func(c *Config) *string { return &c.Slurm.Growth }, "auto", "merge", "overlap", "companions"),
	choice("slurm", "manage", func(c *Config) *string { return &c.Slurm.Manage }, ManageTold, ManageAll),
	text("slurm", "limits", "an absolute path, such as \"/etc/slurm/accordion_limits.lua\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.Slurm.Limits }),
	{section: "slurm", key: "clients_per_minute", want: "0 (no bound) or a whole number from 20 to 100000", put: putClients},

	text("oar", "queue", "one queue's name, such as \"evolve\"", queueName, func(c *Config) *string { return &c.OAR.Queue }),
	text("oar", "conf", "an absolute path, such as \"/etc/oar/oar.conf\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.OAR.Conf }),
	text("oar", "bin", "an absolute path, such as \"/usr/bin\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.OAR.Bin }),
	duration("oar", "timeout", time.Second, 5*time.Minute, "20s", func(c *Config) *time.Duration { return &c.OAR.Timeout }),

	whole("embedded", "nodes", 1, 100_000, func(c *Config) *int { return &c.Embedded.Nodes }),
	whole("embedded", "pace", 1, 1000, func(c *Config) *int { return &c.Embedded.Pace }),

	duration("plan", "interval", 100*time.Millisecond, time.Minute, "1s",
		func(c *Config) *time.Duration { return &c.Plan.Interval }),
	duration("plan", "rest", 0, 5*time.Minute, "5s", func(c *Config) *time.Duration { return &c.Plan.Rest }),
	hinted(text("plan", "policy", oneOf(policy.LiveNames())+"; \"patient:12h:x1\" is patient with other parameters", policy.IsLive,
		func(c *Config) *string { return &c.Plan.Policy }), policy.LiveNames()),
	choice("plan", "sizes", func(c *Config) *string { return &c.Plan.Sizes }, sizing.Names()...),
	text("plan", "statistics", "an absolute path, such as \"/etc/accordion/statistics.json\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.Plan.Statistics }),
	text("plan", "algorithm", "noX, 2X, 2X+c, infX, infX+c, 2X+opt, infX+opt, or one with another limit, such as \"1.5X\"", algorithm,
		func(c *Config) *string { return &c.Plan.Algorithm }),
	{section: "plan", key: "expand_limit", want: "0 (what the algorithm says), or 1 or more, such as 2 or 1.5, or \"inf\"", put: putLimit},
	duration("plan", "start_lead", 0, 5*time.Minute, "4s", func(c *Config) *time.Duration { return &c.Plan.StartLead }),
	whole("plan", "protect", 0, 1000, func(c *Config) *int { return &c.Plan.Protect }),
	duration("plan", "guard", 0, 24*time.Hour, "65s", func(c *Config) *time.Duration { return &c.Plan.Guard }),

	number("overrun", "share", "a share from 0 to 10, such as 0.10",
		func(n float64) bool { return n >= 0 && n <= 10 },
		func(c *Config) *float64 { return &c.Overrun.Share }),
	duration("overrun", "least", 0, 24*time.Hour, "30s", func(c *Config) *time.Duration { return &c.Overrun.Least }),

	duration("overrun", "grace", 0, 24*time.Hour, "30s", func(c *Config) *time.Duration { return &c.Overrun.Grace }),
	text("overrun", "signal", signalForm+", or empty", func(s string) bool { return s == "" || signal(s) },
		func(c *Config) *string { return &c.Overrun.Signal }),

	truth("early", "advance", func(c *Config) *bool { return &c.Early.Advance }),

	duration("silent", "notice", 0, 24*time.Hour, "10s", func(c *Config) *time.Duration { return &c.Silent.Notice }),
	text("silent", "signal", signalForm, signal, func(c *Config) *string { return &c.Silent.Signal }),

	duration("limits", "unused", 0, 365*24*time.Hour, "1h", func(c *Config) *time.Duration { return &c.Limits.Unused }),
	duration("limits", "half_life", time.Minute, 365*24*time.Hour, "168h", func(c *Config) *time.Duration { return &c.Limits.HalfLife }),
	duration("limits", "shortest_step", 0, 24*time.Hour, "10s", func(c *Config) *time.Duration { return &c.Limits.ShortestStep }),
	whole("limits", "resizes_per_hour", 0, 3600, func(c *Config) *int { return &c.Limits.ResizesPerHour }),

	text("journal", "path", "an absolute path, such as \"/var/lib/accordion/journal.db\"", filepath.IsAbs,
		func(c *Config) *string { return &c.Journal.Path }),
	duration("journal", "keep", time.Hour, 10*365*24*time.Hour, "720h",
		func(c *Config) *time.Duration { return &c.Journal.Keep }),

	duration("lease", "length", 20*time.Second, 10*time.Minute, "1m", func(c *Config) *time.Duration { return &c.Lease.Length }),

	// On Linux, the path of a Unix socket has at most 108 bytes, including the final zero.
	text("session", "socket", "an absolute path of at most 107 bytes, such as \"/run/accordion/accordion.sock\"",
		func(s string) bool { return filepath.IsAbs(s) && len(s) <= 107 },
		func(c *Config) *string { return &c.Session.Socket }),
	whole("session", "max_sessions", 1, 1_000_000, func(c *Config) *int { return &c.Session.MaxSessions }),
	text("session", "listen", "HOST:PORT, such as \"0.0.0.0:6820\" or \":6820\", or empty", addressOrEmpty,
		func(c *Config) *string { return &c.Session.Listen }),
	text("session", "munge_socket", "an absolute path, such as \"/run/munge/munge.socket.2\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.Session.MungeSocket }),

	choice("log", "level", func(c *Config) *string { return &c.Log.Level }, "trace", "debug", "info", "warn", "error"),
	choice("log", "format", func(c *Config) *string { return &c.Log.Format }, "text", "json"),
	text("log", "events", "an absolute path, such as \"/var/log/accordion/events.json\", or empty", pathOrEmpty,
		func(c *Config) *string { return &c.Log.Events }),

	text("metrics", "listen", "HOST:PORT, such as \"127.0.0.1:9820\", or empty", addressOrEmpty,
		func(c *Config) *string { return &c.Metrics.Listen }),

	text("web", "listen", "HOST:PORT, such as \"127.0.0.1:9821\", or the absolute path of a Unix socket (at most 107 bytes), or empty",
		func(s string) bool { return filepath.IsAbs(s) && len(s) <= 107 || addressOrEmpty(s) },
		func(c *Config) *string { return &c.Web.Listen }),
	text("web", "names", "host names with commas between them, such as \"jobs.example.org\", or empty", hostNames,
		func(c *Config) *string { return &c.Web.Names }),
	truth("web", "private", func(c *Config) *bool { return &c.Web.Private }),
}

// take stores the value in the configuration, or returns an error that says why the value is wrong.
func (s setting[C]) take(c *C, value any) error {
	if s.put(c, value) {
		return nil
	}
	hint := ""
	if text, ok := value.(string); ok {
		hint = policy.Hint(text, s.names)
	}
	return fmt.Errorf("%s = %s is wrong: it must be %s%s", where(s.section, s.key), show(value), s.want, hint)
}

func (t table[C]) find(section, key string) (setting[C], bool) {
	i := slices.IndexFunc(t, func(s setting[C]) bool { return s.section == section && s.key == key })
	if i < 0 {
		return setting[C]{}, false
	}
	return t[i], true
}

// unknown returns an error that lists the existing keys.
func (t table[C]) unknown(section, key string) error {
	var keys, homes []string
	for _, s := range t {
		if s.section == section {
			keys = append(keys, s.key)
		}
		if s.key == key {
			homes = append(homes, "["+s.section+"]")
		}
		if section == "" && s.section != "" && !slices.Contains(keys, "["+s.section+"]") {
			keys = append(keys, "["+s.section+"]")
		}
	}
	if len(homes) == 1 && homes[0] != "[]" {
		return fmt.Errorf("%s is unknown: %s belongs into %s", where(section, key), key, homes[0])
	}
	return fmt.Errorf("%s is unknown; the keys here are %s", where(section, key), strings.Join(keys, ", "))
}

func where(section, key string) string {
	if section == "" {
		return key
	}
	return "[" + section + "] " + key
}

// show formats a value as it would be written in a file, and shortens it.
func show(value any) string {
	var s string
	switch v := value.(type) {
	case string:
		s = fmt.Sprintf("%q", v)
	case map[string]any, []map[string]any:
		s = "a table"
	default:
		s = fmt.Sprint(v)
	}
	if r := []rune(s); len(r) > 60 {
		s = string(r[:59]) + "…"
	}
	return s
}

func text[C any](section, key, want string, valid func(string) bool, into func(*C) *string) setting[C] {
	return setting[C]{section: section, key: key, want: want, put: func(c *C, value any) bool {
		s, ok := value.(string)
		if ok = ok && valid(s) && !strings.ContainsAny(s, "\x00\n"); ok {
			*into(c) = s
		}
		return ok
	}}
}

func choice[C any](section, key string, into func(*C) *string, names ...string) setting[C] {
	return hinted(text(section, key, oneOf(names), func(s string) bool { return slices.Contains(names, s) }, into), names)
}

// hinted returns the setting with the names that error messages may suggest.
func hinted[C any](s setting[C], names []string) setting[C] {
	s.names = names
	return s
}

// oneOf joins names for a sentence: "a", "b" or "c".
func oneOf(names []string) string {
	want := fmt.Sprintf("%q or %q", strings.Join(names[:len(names)-1], `", "`), names[len(names)-1])
	return strings.ReplaceAll(want, `\"`, `"`)
}

func duration[C any](section, key string, least, most time.Duration, such string, into func(*C) *time.Duration) setting[C] {
	want := fmt.Sprintf("a duration from %s to %s, such as %q", least, most, such)
	return setting[C]{section: section, key: key, want: want, put: func(c *C, value any) bool {
		s, ok := value.(string)
		if !ok {
			return false
		}
		d, err := time.ParseDuration(s)
		if err != nil || d < least || d > most {
			return false
		}
		*into(c) = d
		return true
	}}
}

func number[C any](section, key, want string, valid func(float64) bool, into func(*C) *float64) setting[C] {
	return setting[C]{section: section, key: key, want: want, put: func(c *C, value any) bool {
		var n float64
		switch v := value.(type) {
		case int64:
			n = float64(v)
		case float64:
			n = v
		default:
			return false
		}
		if math.IsNaN(n) || !valid(n) {
			return false
		}
		*into(c) = n
		return true
	}}
}

// putLimit sets Plan.ExpandLimit. It accepts 0, a number or "inf".
func putLimit(c *Config, value any) bool {
	var text string
	switch v := value.(type) {
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		text = v
	}
	if text == "0" {
		c.Plan.ExpandLimit = 0
		return true
	}
	limit, err := ep.ParseLimit(text)
	if err == nil {
		c.Plan.ExpandLimit = limit
	}
	return err == nil
}

// algorithm reports whether jobs can be planned with the algorithm. Rigid is excluded, because steps are resized.
func algorithm(name string) bool {
	a, err := ep.ParseAlgorithm(name)
	return err == nil && !a.Rigid
}

// putClients sets Slurm.Clients. It accepts 0, or a number that allows at least the action with the most calls (slurm.LeastClients).
func putClients(c *Config, value any) bool {
	n, ok := value.(int64)
	if ok = ok && (n == 0 || n >= 20 && n <= 100_000); ok {
		c.Slurm.Clients = int(n)
	}
	return ok
}

func whole[C any](section, key string, least, most int64, into func(*C) *int) setting[C] {
	want := fmt.Sprintf("a whole number from %d to %d", least, most)
	return setting[C]{section: section, key: key, want: want, put: func(c *C, value any) bool {
		n, ok := value.(int64)
		if ok = ok && n >= least && n <= most; ok {
			*into(c) = int(n)
		}
		return ok
	}}
}

func truth[C any](section, key string, into func(*C) *bool) setting[C] {
	return setting[C]{section: section, key: key, want: "true or false", put: func(c *C, value any) bool {
		b, ok := value.(bool)
		if ok {
			*into(c) = b
		}
		return ok
	}}
}

const signalForm = "a signal's name, such as \"USR1\" for all of the job or \"B:URG\" for its batch script"

// signal reports whether s may be the name of a signal for `scancel --signal`, optionally with the
// prefix "B:".
func signal(s string) bool {
	s = strings.TrimPrefix(s, "B:")
	return s != "" && len(s) <= 12 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// queueName reports whether s can be the name of a queue in OAR: oarsub accepts letters, digits, _ and -.
func queueName(s string) bool {
	return s != "" && len(s) <= 100 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func plain(s string) bool { return !strings.ContainsAny(s, " \t\r\n\"'") && len(s) <= 255 }

// addressOrEmpty reports whether s is "", or an address HOST:PORT to listen at. HOST may be empty, which means all addresses.
func addressOrEmpty(s string) bool {
	if s == "" {
		return true
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || !plain(host) {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// hostNames reports whether s is a list of host names as browsers send them, without ports.
func hostNames(s string) bool {
	for name := range strings.SplitSeq(s, ",") {
		if s != "" && (name == "" || len(name) > 253 || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "") {
			return false
		}
	}
	return true
}

func absolute(s string) bool { return filepath.IsAbs(s) }

func pathOrEmpty(s string) bool { return s == "" || filepath.IsAbs(s) }
