package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// Configuration reads slurmctld's configuration, in about 6 ms.
func (s *Cluster) Configuration(ctx context.Context) (output.Configuration, error) {
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"show", "config"}, Kind: client.Listing})
	if err != nil {
		return nil, fmt.Errorf("reading Slurm's configuration: %w", err)
	}
	c, err := output.ParseConfiguration(out.Stdout)
	if err != nil {
		return nil, err
	}
	if script, err := SubmitScript(c); err == nil && output.IsOurs(script) {
		c.NotePlugin()
	}
	return c, nil
}

// SubmitScript returns the text of slurmctld's job_submit.lua, which exists only on slurmctld's machine. It returns
// "" if slurmctld does not use such a script.
func SubmitScript(c output.Configuration) (string, error) {
	if !slices.Contains(strings.Split(c["JobSubmitPlugins"], ","), "lua") {
		return "", nil
	}
	script, err := os.ReadFile(filepath.Join(filepath.Dir(c["SLURM_CONF"]), "job_submit.lua"))
	return string(script), err
}

// settingsValid is how long a configuration is used. The settings on which a resize depends change only when
// slurmctld restarts with a new release of Slurm or another accounting storage.
const settingsValid = 30 * time.Second

// Recent returns the configuration as it was at most 30 s ago.
func (s *Cluster) Recent(ctx context.Context) (output.Configuration, error) {
	return s.Within(ctx, settingsValid)
}

// Within returns the configuration as it was at most the given time ago.
func (s *Cluster) Within(ctx context.Context, age time.Duration) (output.Configuration, error) {
	s.mu.Lock()
	known, read := s.recently, s.readAt
	s.mu.Unlock()
	if known != nil && time.Since(read) < age {
		return known, nil
	}
	begin := time.Now()
	c, err := s.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.recently, s.readAt = c, begin
	s.mu.Unlock()
	return c, nil
}

// Trap returns why a resize would go wrong now, or "" if it would not.
func Trap(ctx context.Context, c output.Configuration) string {
	if !c.NeedsDatabase() {
		return ""
	}
	if c["AccountingStorageType"] != "accounting_storage/slurmdbd" {
		return fmt.Sprintf("Slurm %s cannot resize a job twice without slurmdbd (AccountingStorageType is %s)",
			c["SLURM_VERSION"], c["AccountingStorageType"])
	}
	if why := absent(ctx, c); why != nil {
		return fmt.Sprintf("slurmdbd does not answer (%v), and a resize now would make the job's later ones fail; start slurmdbd", why)
	}
	return ""
}

// absent returns why none of the configured slurmdbds answers. It returns nil if one answers, or if none is
// configured.
func absent(ctx context.Context, c output.Configuration) (why error) {
	if c["AccountingStorageType"] != "accounting_storage/slurmdbd" {
		return nil
	}
	for _, host := range []string{c["AccountingStorageHost"], c["AccountingStorageBackupHost"]} {
		if host == "" {
			continue
		}
		if why = answers(ctx, net.JoinHostPort(host, c["AccountingStoragePort"])); why == nil {
			return nil
		}
	}
	return why
}

// answers returns why slurmdbd does not work, or nil if it works. A call of sacctmgr would take minutes to find
// that out. If no process listens, the connection is refused. If slurmdbd hangs, the kernel still accepts the
// connection. Only a live slurmdbd closes a connection whose client has finished sending.
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
		return fmt.Errorf("%s accepts connections but does not answer: it hangs", address)
	}
	return nil // the connection was closed or reset, so slurmdbd is alive
}

// patienceForDatabase is how long slurmdbd may take to close a connection. A live slurmdbd does so within
// milliseconds.
const patienceForDatabase = 3 * time.Second

// Trapped returns an ErrTrap if a resize would go wrong now. From 21.08.8 to 24.05, a resize without slurmdbd makes
// every later update of the job fail.
func (s *Cluster) Trapped(ctx context.Context) error {
	c, err := s.Recent(ctx)
	if err != nil {
		return err
	}
	if why := Trap(ctx, c); why != "" {
		return fmt.Errorf("%w: %s", adapter.ErrTrap, why)
	}
	return nil
}
