package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/oar/conf"
	"accordion/oar/cpuset"
	"accordion/oar/database"
	"accordion/oar/node"
)

// checkNodes looks at how OAR makes nodes ready for a job, which has to be done for the nodes that join one too, and whether
// nodes can be reached.
func (s Setup) checkNodes(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	m := s.Conf.Manager
	found := s.checkManager(m)
	more, err := s.checkProcessors(ctx, d)
	if err != nil {
		return nil, err
	}
	found = append(found, more...)
	more, err = s.checkReach(ctx, d)
	return append(found, more...), err
}

// checkManager looks at OAR's job resource manager.
func (s Setup) checkManager(m conf.Manager) []adapter.Finding {
	const growth = "a job that grows could not reach its new nodes"
	if !m.Used() {
		return []adapter.Finding{{Severity: adapter.Note, What: "JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD is not set: OAR makes neither cpusets nor job keys, and none are made on nodes that join a job"}}
	}
	text, err := os.ReadFile(m.File)
	if err != nil {
		return []adapter.Finding{{Severity: adapter.Fatal, What: fmt.Sprintf("OAR's job resource manager cannot be read, and %s: %v", growth, err), Fix: "Correct JOB_RESOURCE_MANAGER_FILE in " + s.File}}
	}
	var found []adapter.Finding
	if !strings.Contains(string(text), cpuset.MakeReady) || !strings.Contains(string(text), cpuset.MakeClean) {
		found = append(found, adapter.Finding{Severity: adapter.Warning, What: fmt.Sprintf("OAR's job resource manager, %s, is not known to do what OAR asks of it (%s, %s): perhaps %s", m.File, cpuset.MakeReady, cpuset.MakeClean, growth),
			Fix: "Let it do as OAR's own, /etc/oar/job_resource_manager*.pl, or correct JOB_RESOURCE_MANAGER_FILE in " + s.File})
	}
	if m.Cpusets == "" {
		found = append(found, adapter.Finding{Severity: adapter.Note, What: "CPUSET_PATH is not set: jobs are not bound to processors, and what a job runs on a node that leaves it is not ended"})
	} else {
		found = append(found, adapter.Finding{Severity: adapter.Note, What: fmt.Sprintf("jobs run in cpusets: %s makes them, on nodes that join a job too", m.File)})
	}
	if s.Conf.EpilogueTimeout < conf.LongestEpilogue {
		found = append(found, adapter.Finding{Severity: adapter.Warning, What: fmt.Sprintf("SERVER_PROLOGUE_EPILOGUE_TIMEOUT is %v: without the sidecar a job's nodes must be clean within half of it, for OAR switches all queues off after it", s.Conf.EpilogueTimeout),
			Fix: fmt.Sprintf("Let it be %.0f or more", conf.LongestEpilogue.Seconds())})
	}
	return found
}

// checkProcessors looks whether OAR's tables have the processors of each resource.
func (s Setup) checkProcessors(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	m := s.Conf.Manager
	if !m.Used() {
		return nil, nil
	}
	const what = "the resources' processors"
	schema := "ANY (current_schemas(false))"
	if d.Conf.Type == "mysql" {
		schema = "DATABASE()"
	}
	columns, without := 0, 0
	query := "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'resources' AND table_schema = " + schema + " AND column_name = " + d.Arg(1)
	if err := database.Rows(ctx, d.Sql, what, query, []any{m.Property}, func(r *sql.Rows) error { return r.Scan(&columns) }); err != nil {
		return nil, err
	}
	if columns == 0 {
		return []adapter.Finding{{Severity: adapter.Fatal, What: fmt.Sprintf("JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD is %q, which is no property of resources: OAR can start no job", m.Property),
			Fix: "Correct it in " + s.File + ", or add the property (oarproperty -a)"}}, nil
	}
	if m.Cpusets == "" {
		return nil, nil
	}
	query = fmt.Sprintf("SELECT COUNT(DISTINCT r.network_address) FROM resources r WHERE %s AND r.state <> 'Dead' AND (r.%[2]s IS NULL OR CAST(r.%[2]s AS CHAR(20)) = '')", database.OnHost, m.Property)
	if err := database.Rows(ctx, d.Sql, what, query, nil, func(r *sql.Rows) error { return r.Scan(&without) }); err != nil || without == 0 {
		return nil, err
	}
	return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("resources of %d nodes have no value for %q: OAR can make no cpuset of them", without, m.Property), Fix: "Set it (oarnodesetting -p)"}}, nil
}

// tried is how many nodes preflight tries to reach, one after the other, and how long each may take.
const (
	tried       = 3
	triedWithin = 10 * time.Second
)

// checkReach looks whether a node can be reached as OAR reaches it. One may be down though OAR does not know it yet.
func (s Setup) checkReach(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	var hosts []string
	query := fmt.Sprintf("SELECT r.network_address FROM resources r WHERE %s AND r.state = 'Alive' GROUP BY r.network_address ORDER BY r.network_address LIMIT %d", database.OnHost, tried)
	err := database.Rows(ctx, d.Sql, "the nodes", query, nil, func(r *sql.Rows) error {
		var host string
		err := r.Scan(&host)
		hosts = append(hosts, host)
		return err
	})
	if err != nil || len(hosts) == 0 {
		return nil, err
	}
	var failures []error
	for _, host := range hosts {
		within, cancel := context.WithTimeout(ctx, triedWithin)
		_, err := node.Remote{Command: s.Conf.Remote}.Run(within, host, "true", "", cpuset.Quickly)
		cancel()
		if err == nil {
			return nil, nil
		}
		failures = append(failures, err)
	}
	return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("nodes cannot be reached as OAR reaches them (OPENSSH_CMD, %s): %s", s.Conf.Remote, database.OneLine(errors.Join(failures...))),
		Fix: "Do the nodes run, with their oar-node service? Does OAR's account get there from here?"}}, nil
}

// checkRelease looks for what is known of OAR's releases: that one writes to tables of MariaDB's which it has not locked, while it holds
// locks on others.
func (s Setup) checkRelease(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	if d.Conf.Type != "mysql" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, triedWithin)
	defer cancel()
	// The database does not tell: its form has an older number.
	out, err := node.Program(ctx, "oarstat", "--version").Output()
	if err != nil || !strings.Contains(string(out), " 2.6.") {
		return nil, nil
	}
	return []adapter.Finding{{Severity: adapter.Warning, What: "OAR 2.6 does not work with MariaDB: oarsub says that tables were not locked with LOCK TABLES, and loses what jobs ask for", Fix: "Use PostgreSQL, or OAR 2.5"}}, nil
}
