package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/hostfile"
	"accordion/oar/database"
	"accordion/oar/server"
)

// inRuntimeFolder is the beginning of a shell script that works in OAR's runtime folder on a node. The folder is the
// script's second argument. By default it is /tmp/oar_runtime, so another user may have created the folder first, or a
// link with its name. The script ends unless OAR's account or root owns the folder and no other user may write to it.
// It then changes into the folder, so that a link that is made later has no effect.
const inRuntimeFolder = `umask 022; safe() { [ ! -L "$2" ] && cd -P -- "$2" && ` +
	`[ -n "$(find . -prune \( -user "$(id -u)" -o -user 0 \) ! -perm -002 \( ! -perm -020 -o -group "$(id -g)" \))" ]; }; ` +
	`safe "$@" || { echo "$2 is no folder of the user $(id -un) alone: remove it, or set OAR_RUNTIME_DIRECTORY to one in which users cannot write" >&2; exit 77; }; ` +
	`set -C; `

// writeNodes is a script that replaces the job's node file ($OAR_NODEFILE) atomically, once the whole text has arrived. (A sender that is
// killed sends only a part of the text.) If the job ends meanwhile, the file must not be created again. At a job's end OAR first removes
// the job's .env file, then the node file, then the _resources file. So if .env is gone after the replacement, OAR has begun to clean up,
// and the script removes the node file. If OAR makes no cpusets, there is no .env, and the script checks _resources instead.
const writeNodes = `[ -e "$2" ] || exit 0; ` + inRuntimeFolder + `f=$1; [ -e "$f" ] || exit 0; for sign in *_"$1".env; do [ -e "$sign" ] || sign=${f}_resources; done; ` +
	`n=$f.accordion-next; rm -f "$n"; cat >"$n" && [ "$(wc -c <"$n")" -eq "$3" ] && chmod 644 "$n" && mv -f "$n" "$f" || { rm -f "$n"; exit 1; }; ` +
	`[ -e "$sign" ] || rm -f "$f"; rm -f "$f.accordion"`

// writeHosts runs hostfile.Script as a user.
const writeHosts = server.AsUser + `cd / && exec oardodo sh -c '` + hostfile.Script + `' sh "$1"`

// Publish writes the job's hosts file on the job's first node, as the job's user (hostfile.Script). It also replaces the node file that OAR
// made on that node ($OAR_NODEFILE), which has a line for each resource, host by host.
func (s *System) Publish(ctx context.Context, job *adapter.Job, text string) (elsewhere string, err error) {
	r, err := s.read.Job(ctx, s.db.Sql, job.Key)
	var host string
	if err == nil {
		host, err = scriptHost(r)
	}
	if err != nil {
		return "", fmt.Errorf("publishing the hosts of job %d: %w", job.ID, err)
	}
	if err := s.publishNodes(ctx, host, job); err != nil {
		return "", fmt.Errorf("publishing the hosts of job %d: %w", job.ID, err)
	}
	printed, err := s.reach.Script(ctx, host, writeHosts, text, r.User, fmt.Sprintf("%s-%d", s.db.Conf.Server, job.ID))
	if err != nil {
		return "", fmt.Errorf("publishing the hosts of job %d: %w", job.ID, err)
	}
	return hostfile.Elsewhere(printed), nil
}

func (s *System) publishNodes(ctx context.Context, host string, job *adapter.Job) error {
	text, err := s.nodefile(ctx, job.Nodes)
	if err == nil {
		_, err = s.reach.Script(ctx, host, writeNodes, text, strconv.FormatInt(int64(job.ID), 10), s.db.Conf.Manager.Runtime, strconv.Itoa(len(text)))
	}
	return err
}

// nodefile returns the text of a job's node file as OAR writes it: a line for each resource, host by host.
func (s *System) nodefile(ctx context.Context, nodes []string) (string, error) {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	var lines strings.Builder
	for _, node := range nodes {
		resources, err := s.db.Resources(ctx, s.db.Sql, []string{node})
		if err != nil {
			return "", err
		}
		for range resources {
			lines.WriteString(node + "\n")
		}
	}
	return lines.String(), nil
}

// leaveNodes is a script that writes the text of a job's node file into the file where Prologue finds it. It also deletes files of this
// kind that are older than an hour. They belong to jobs that did not start, while no sidecar ran that could remove the file.
const leaveNodes = `mkdir -m 755 "$2" 2>/dev/null; ` + inRuntimeFolder + `f=$1.accordion; rm -f "$f-next"; cat >"$f-next" && [ "$(wc -c <"$f-next")" -eq "$3" ] && chmod 644 "$f-next" && mv -f "$f-next" "$f" || { rm -f "$f-next"; exit 1; }
find . -maxdepth 1 -name '*.accordion*' -mmin +60 -delete 2>/dev/null || :`

// dropNodes is a script that removes the file which leaveNodes has written.
const dropNodes = `[ -e "$2" ] || exit 0; ` + inRuntimeFolder + `rm -f "$1.accordion"`

// leaveTimeout limits the work on a node before a job starts. If it takes longer, the job starts without the file.
const leaveTimeout = 5 * time.Second

// firstOf returns the host on which OAR would run a job's script, which is the first host in the database's sort order. With the collation
// of a language, that order is not the order of bytes: node-10.site may come before node-1.site.
func (s *System) firstOf(ctx context.Context, hosts []string) (first string, err error) {
	resources, err := s.db.Resources(ctx, s.db.Sql, hosts)
	if err == nil {
		query := "SELECT MIN(r.network_address) FROM resources r WHERE r.resource_id IN (" + database.List(resources) + ")"
		err = s.db.Sql.QueryRowContext(ctx, query).Scan(&first)
	}
	return first, err
}

// retractFromFirst removes the file that leaveForPrologue has left on the first host of a base.
func (s *System) retractFromFirst(ctx context.Context, job adapter.Key, base []string) {
	first, err := s.firstOf(ctx, base)
	if err != nil {
		s.log.Warn("the places of the nodes left for a job's prologue cannot be read: the nodes stay there", "job", job.ID, "error", err)
		return
	}
	s.retract(ctx, job, first)
}

// retract removes the file that leaveForPrologue has left on a host. It is called if the job does not start as planned, because the job may
// then start on other hosts or with another size.
func (s *System) retract(ctx context.Context, job adapter.Key, host string) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if _, err := s.reach.Script(ctx, host, dropNodes, "", strconv.FormatInt(int64(job.ID), 10), s.db.Conf.Manager.Runtime); err != nil {
		s.log.Warn("the nodes left for a job's prologue cannot be removed", "job", job.ID, "node", host, "error", err)
	}
}

// A plannedStart is a job that was to start on the hosts in `base` but has not started. leaveForPrologue may have left a file for the job.
type plannedStart struct {
	job  adapter.Key
	base []string
}

// startsTiedTo returns the planned starts on the nodes that a reservation has before it changes. If a sidecar was
// killed during a start, the file that it left for the prologue still exists. Only the reservation shows on which node
// that file is.
func (s *System) startsTiedTo(ctx context.Context, tx *sql.Tx, name string, hosts []string) ([]plannedStart, error) {
	tied, err := s.read.Jobs(ctx, tx, "j.job_id IN (SELECT t.job_id FROM accordion_jobs t WHERE t.reservation = "+s.db.Arg(1)+")", name)
	var all []plannedStart
	for _, r := range tied {
		if r.State == adapter.Running || r.BaseJob != 0 {
			continue
		}
		if base, err := baseOf(r, len(hosts)); err == nil && base < len(hosts) { // otherwise no file was left for the job
			all = append(all, plannedStart{r.Key, hosts[:base]})
		}
	}
	return all, err
}

// leaveForPrologue leaves a file with the nodes of a job's first step on the node where the job's script will run. It
// does so only if the first step has more nodes than the job's base, because OAR itself lists the nodes of the base.
// It returns that node, or "" if it left no file. If the node cannot be reached, the job starts without the file, and
// Detach writes the node file later.
func (s *System) leaveForPrologue(ctx context.Context, job adapter.Key) (first string) {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	err := func() error {
		r, err := s.read.Job(ctx, s.db.Sql, job)
		if err != nil || pending(r) != nil || r.Reservation == "" {
			return nil // Release reports this error
		}
		all, err := s.read.Reservations(ctx, s.db.Sql, r.Reservation)
		if err != nil || len(all) == 0 {
			return nil
		}
		hosts := all[0].Nodes
		base, err := baseOf(r, len(hosts))
		if err != nil || base == len(hosts) {
			return nil
		}
		text, err := s.nodefile(ctx, hosts)
		if err != nil {
			return err
		}
		if first, err = s.firstOf(ctx, hosts[:base]); err == nil {
			_, err = s.reach.Script(ctx, first, leaveNodes, text, strconv.FormatInt(int64(job.ID), 10), s.db.Conf.Manager.Runtime, strconv.Itoa(len(text)))
		}
		return err
	}()
	if err != nil {
		s.log.Warn("the nodes of a job's first step cannot be left for its prologue", "job", job.ID, "error", err)
	}
	return first
}
