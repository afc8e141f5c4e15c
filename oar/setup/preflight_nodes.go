package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/oar/conf"
	"accordion/oar/cpuset"
	"accordion/oar/database"
	"accordion/oar/server"
)

// checkManager checks OAR's job resource manager and the property with the processors of each resource. The manager prepares nodes for
// jobs, including nodes that join a job later.
func (s Setup) checkManager(ctx context.Context, d setupStore) ([]check, error) {
	const growth = "a job that grows could not reach its new nodes"
	m := s.Conf.Manager
	if !m.Used() {
		return []check{{"the manager", adapter.Note, true, "JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD is not set: OAR makes neither cpusets nor job keys, and none are made on nodes that join a job", ""}}, nil
	}
	text, unreadable := os.ReadFile(m.File)
	read := unreadable == nil
	there, without, err := d.processors(ctx, m)
	return []check{
		{"the manager's file", adapter.Fatal, !read, fmt.Sprintf("OAR's job resource manager cannot be read, and %s: %v", growth, unreadable),
			"Correct JOB_RESOURCE_MANAGER_FILE in " + s.File},
		{"the manager", adapter.Warning, read && !(strings.Contains(string(text), cpuset.MakeReady) && strings.Contains(string(text), cpuset.MakeClean)),
			fmt.Sprintf("OAR's job resource manager, %s, is not known to do what OAR asks of it (%s, %s): perhaps %s", m.File, cpuset.MakeReady, cpuset.MakeClean, growth),
			"Let it do as OAR's own, /etc/oar/job_resource_manager*.pl, or correct JOB_RESOURCE_MANAGER_FILE in " + s.File},
		{"no cpusets", adapter.Note, read && m.Cpusets == "", "CPUSET_PATH is not set: jobs are not bound to processors, and what a job runs on a node that leaves it is not ended", ""},
		{"cpusets", adapter.Note, read && m.Cpusets != "", fmt.Sprintf("jobs run in cpusets: %s makes them, on nodes that join a job too", m.File), ""},
		{"the epilogue's time", adapter.Warning, read && s.Conf.EpilogueTimeout < conf.LongestEpilogue,
			fmt.Sprintf("SERVER_PROLOGUE_EPILOGUE_TIMEOUT is %v: without the sidecar a job's nodes must be clean within half of it, for OAR switches all queues off after it", s.Conf.EpilogueTimeout),
			fmt.Sprintf("Let it be %.0f or more", conf.LongestEpilogue.Seconds())},
		{"the property of processors", adapter.Fatal, !there, fmt.Sprintf("JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD is %q, which is not a property of resources: OAR can start no job", m.Property),
			"Correct it in " + s.File + ", or add the property (oarproperty -a)"},
		{"the processors", adapter.Warning, without > 0, fmt.Sprintf("resources of %d nodes have no value for %q: OAR can make no cpuset of them", without, m.Property), "Set it (oarnodesetting -p)"},
	}, err
}

// processors reports whether the property of processors exists, and on how many nodes resources have no value for it.
func (d setupStore) processors(ctx context.Context, m conf.Manager) (there bool, without int, err error) {
	const what = "the resources' processors"
	query := "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'resources' AND table_schema = " + d.OwnSchema() + " AND column_name = " + d.Arg(1)
	columns, err := database.Value[int](ctx, d.Sql, what, query, m.Property)
	if err != nil || columns == 0 || m.Cpusets == "" {
		return columns > 0, 0, err
	}
	query = fmt.Sprintf("SELECT COUNT(DISTINCT r.network_address) FROM resources r WHERE %s AND r.state <> 'Dead' AND (r.%[2]s IS NULL OR CAST(r.%[2]s AS CHAR(20)) = '')", database.OnHost, m.Property)
	without, err = database.Value[int](ctx, d.Sql, what, query)
	return true, without, err
}

// `tried` is how many nodes preflight tries to reach, one after another. `triedWithin` is the timeout for each node.
const (
	tried       = 3
	triedWithin = 10 * time.Second
)

// checkReach checks that a node can be reached in the way in which OAR reaches nodes. It tries several nodes, because a node may be down
// without OAR having noticed.
func (s Setup) checkReach(ctx context.Context, d setupStore) ([]check, error) {
	query := fmt.Sprintf("SELECT r.network_address FROM resources r WHERE %s AND r.state = 'Alive' GROUP BY r.network_address ORDER BY r.network_address LIMIT %d", database.OnHost, tried)
	hosts, err := database.Column[string](ctx, d.Sql, "the nodes", query)
	if err != nil || len(hosts) == 0 {
		return nil, err
	}
	var failures []error
	for _, host := range hosts {
		within, cancel := context.WithTimeout(ctx, triedWithin)
		_, err := server.Remote{Command: s.Conf.Remote}.Run(within, host, "true", "", cpuset.ConnectTimeout)
		cancel()
		if err == nil {
			return nil, nil
		}
		failures = append(failures, err)
	}
	return []check{{"the nodes answer", adapter.Warning, true, fmt.Sprintf("nodes cannot be reached as OAR reaches them (OPENSSH_CMD, %s): %s", s.Conf.Remote, database.OneLine(errors.Join(failures...))),
		"Do the nodes run, with their oar-node service? Does OAR's account get there from here?"}}, nil
}

// checkRelease reports a known fault of OAR 2.6 with MariaDB. While OAR holds locks on some tables, it writes to
// tables that it has not locked, which MariaDB refuses.
func (s Setup) checkRelease(ctx context.Context, d setupStore) ([]check, error) {
	if !d.OARLocksTables() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, triedWithin)
	defer cancel()
	// The version in the database is that of the tables, which is lower than that of the release.
	out, err := server.Program(ctx, "oarstat", "--version").Output()
	return []check{{"OAR's release", adapter.Warning, err == nil && strings.Contains(string(out), " 2.6."),
		"OAR 2.6 does not work with MariaDB: oarsub says that tables were not locked with LOCK TABLES, and loses what jobs ask for", "Use PostgreSQL, or OAR 2.5"}}, nil
}
