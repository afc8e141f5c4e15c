package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core"
	"accordion/slurm/client"
)

// A configuration is what `scontrol show config` prints: slurmctld's settings as they are in force.
type configuration map[string]string

// configuration reads it: some 6 ms.
func (s *System) configuration(ctx context.Context) (configuration, error) {
	out, err := s.run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"show", "config"}, Kind: client.Listing})
	if err != nil {
		return nil, fmt.Errorf("reading Slurm's configuration: %w", err)
	}
	c, err := parseConfiguration(out.Stdout)
	if err != nil {
		return nil, err
	}
	if script, err := c.submitScript(); err == nil && isOurs(script) {
		c[guard] = "ours"
	}
	return c, nil
}

// guard is where a configuration says "ours" if slurmctld shows what is submitted to our job_submit.lua, or to a site's that calls it.
// Where that cannot be seen, it is taken for another's. No key of Slurm's is like it.
const guard = "(job_submit.lua)"

// submitScript is slurmctld's job_submit.lua, which only its own machine has; "" where it uses none.
func (c configuration) submitScript() (string, error) {
	if !slices.Contains(strings.Split(c["JobSubmitPlugins"], ","), "lua") {
		return "", nil
	}
	script, err := os.ReadFile(filepath.Join(filepath.Dir(c["SLURM_CONF"]), "job_submit.lua"))
	return string(script), err
}

// isOurs says whether a job_submit.lua is ours, or has ours in it.
func isOurs(script string) bool { return strings.Contains(script, "accordion:") }

// lasts is how long a configuration that was read is taken to be in force: what a resize asks of it changes with a new
// release of Slurm or another accounting storage only, and so with a restart of slurmctld.
const lasts = 30 * time.Second

// recent is the configuration as it was at most so long ago.
func (s *System) recent(ctx context.Context) (configuration, error) {
	s.mu.Lock()
	known, read := s.recently, s.readAt
	s.mu.Unlock()
	if known != nil && time.Since(read) < lasts {
		return known, nil
	}
	begin := time.Now()
	c, err := s.configuration(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.recently, s.readAt = c, begin
	s.mu.Unlock()
	return c, nil
}

// parseConfiguration reads lines "Key = value".
func parseConfiguration(out string) (configuration, error) {
	c := configuration{}
	for line := range strings.SplitSeq(out, "\n") {
		if key, value, ok := strings.Cut(line, "="); ok {
			c[strings.TrimSpace(key)] = text(strings.TrimSpace(value))
		}
	}
	if c["SLURM_VERSION"] == "" {
		return nil, fmt.Errorf("scontrol show config: no SLURM_VERSION in it: %w", errForm)
	}
	return c, nil
}

// version is the year and month of the release, 22.05 being 2205, and its patch level; zeros when unreadable.
func (c configuration) version() (release, patch int) {
	parts := strings.SplitN(c["SLURM_VERSION"], ".", 3)
	if len(parts) < 2 {
		return 0, 0
	}
	year, errY := strconv.Atoi(parts[0])
	month, errM := strconv.Atoi(parts[1])
	if errY != nil || errM != nil {
		return 0, 0
	}
	if len(parts) == 3 {
		digits, _, _ := strings.Cut(parts[2], "-")
		patch, _ = strconv.Atoi(digits)
	}
	return year*100 + month, patch
}

// needsDatabase says whether a resize on this release goes wrong without slurmdbd.
func (c configuration) needsDatabase() bool {
	release, patch := c.version()
	return (release > 2108 || release == 2108 && patch >= 8) && release < 2411
}

// trap says why a resize would go wrong now, "" when it would not.
func (c configuration) trap(ctx context.Context) string {
	if !c.needsDatabase() {
		return ""
	}
	if c["AccountingStorageType"] != "accounting_storage/slurmdbd" {
		return fmt.Sprintf("Slurm %s cannot resize a job twice without slurmdbd (AccountingStorageType is %s)",
			c["SLURM_VERSION"], c["AccountingStorageType"])
	}
	var why error
	for _, host := range []string{c["AccountingStorageHost"], c["AccountingStorageBackupHost"]} {
		if host == "" {
			continue
		}
		if why = answers(ctx, net.JoinHostPort(host, c["AccountingStoragePort"])); why == nil {
			return ""
		}
	}
	return fmt.Sprintf("slurmdbd does not answer (%v), and a resize now would make the job's later ones fail; start slurmdbd", why)
}

// answers says why slurmdbd is not at its work: asking it through sacctmgr takes minutes then. Where nobody listens the
// connection is refused; where it hangs, the kernel accepts in its name, but only a slurmdbd that lives closes a connection
// on which its client has nothing to say.
func answers(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: patienceForDatabase}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	end := time.Now().Add(patienceForDatabase)
	if given, ok := ctx.Deadline(); ok && given.Before(end) {
		end = given
	}
	if err := errors.Join(conn.SetDeadline(end), conn.(*net.TCPConn).CloseWrite()); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%s accepts connections and leaves them alone: it hangs", address)
	}
	return nil // closed, or reset: somebody is there
}

// patienceForDatabase is long for a slurmdbd, which closes a connection within milliseconds.
const patienceForDatabase = 3 * time.Second

// number reads a setting that begins with a number, such as "30 sec"; ok is false for UNLIMITED and the like.
func (c configuration) number(key string) (n int64, ok bool) {
	word, _, _ := strings.Cut(c[key], " ")
	n, err := strconv.ParseInt(word, 10, 64)
	return n, err == nil && n >= 0
}

// sweep is how often slurmctld looks at time limits, in seconds.
const sweep = 30

// guard is how long a job may hold its nodes past its limit, in seconds: slurmctld's sweep, OverTimeLimit (a
// partition's own where it has one), KillWait. core.Forever where limits are not enforced.
func (c configuration) guard(partitions []partition) core.Time {
	over, ok := c.number("OverTimeLimit") // minutes
	if !ok && c["OverTimeLimit"] != "" {
		return core.Forever
	}
	longest := int64(0)
	for _, p := range partitions {
		switch own, err := strconv.ParseInt(p.overTime, 10, 64); {
		case p.overTime == "UNLIMITED":
			return core.Forever
		case err == nil:
			longest = max(longest, own)
		default: // NONE: the cluster's
			longest = max(longest, over)
		}
	}
	if len(partitions) == 0 {
		longest = over
	}
	wait, _ := c.number("KillWait") // seconds
	return sweep + longest*60 + wait
}

// ClusterName is the cluster's name as slurmctld knows it.
func (s *System) ClusterName(ctx context.Context) (string, error) {
	c, err := s.configuration(ctx)
	if err != nil {
		return "", err
	}
	return c["ClusterName"], nil
}

// Identity is how slurmctld names itself, the same for whoever asks: the cluster, the controller's host and its port.
func (s *System) Identity(ctx context.Context) (string, error) {
	c, err := s.configuration(ctx)
	if err != nil {
		return "", err
	}
	return c.identity(), nil
}

func (c configuration) identity() string {
	host, _, _ := strings.Cut(c["SlurmctldHost[0]"], "(") // and its address, in brackets
	return c["ClusterName"] + "-" + host + "-" + c["SlurmctldPort"]
}
