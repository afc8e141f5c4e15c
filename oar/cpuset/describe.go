package cpuset

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"accordion/oar/database"
)

// describe returns the description of a job that OAR's manager needs, with the keys that OAR's own programs use. `hosts` are the nodes to
// which the manager is sent. `whole` lists all nodes of the job, for the files that list the job's resources. Cleaning does not need
// `whole`.
func (c Sets) describe(ctx context.Context, job int64, hosts, whole []string) (map[string]any, error) {
	conf := c.manager.conf
	w, err := c.ofJob(ctx, job)
	if err != nil {
		return nil, err
	}
	types, err := c.types(ctx, job)
	if err != nil {
		return nil, err
	}
	processors, err := c.processors(ctx, hosts)
	if err != nil {
		return nil, err
	}
	resources, err := c.db.ResourceRows(ctx, whole)
	if err != nil {
		return nil, err
	}
	items := []any{}
	for _, r := range resources {
		items = append(items, r)
	}
	name := fmt.Sprintf("%s_%d", w["job_user"], job)
	path, cpuset := any(nil), "undef"
	if conf.Cpusets != "" {
		path, cpuset = conf.Cpusets, conf.Cpusets+"/"+name
	}
	seconds := w["walltime_seconds"]
	return map[string]any{
		"job_id": job, "name": name, "nodes": processors, "cpuset_path": path, "compute_thread_siblings": conf.Siblings,
		"ssh_keys": map[string]any{
			"public": map[string]any{"file_name": ".ssh/authorized_keys",
				"key": fmt.Sprintf("environment=\"OAR_CPUSET=%s\",environment=\"OAR_JOB_USER=%s\" %s\n", cpuset, w["job_user"], w["ssh_public_key"])},
			"private": map[string]any{"file_name": conf.Runtime + "/" + name + ".jobkey", "key": w["ssh_private_key"]},
		},
		"oar_tmp_directory": conf.Runtime, "user": w["job_user"], "job_user": w["job_user"], "types": types, "resources": items,
		"node_file_db_fields": conf.NodeFile.Property, "node_file_db_fields_distinct_values": conf.NodeFile.Distinct,
		"array_id": w["array_id"], "array_index": w["array_index"], "stdout_file": w["stdout_file"], "stderr_file": w["stderr_file"],
		"launching_directory": w["launching_directory"], "job_name": w["job_name"], "project": w["project"],
		"walltime_seconds": seconds, "walltime": clock(seconds), "log_level": conf.LogLevel,
	}, nil
}

// ofJob reads the job's row, its key, and the walltime of the configuration in which it runs or is to run.
func (c Sets) ofJob(ctx context.Context, job int64) (map[string]string, error) {
	columns := []string{"job_user", "project", "job_name", "launching_directory", "stdout_file", "stderr_file", "array_id", "array_index",
		"ssh_private_key", "ssh_public_key", "walltime_seconds"}
	query := fmt.Sprintf(`SELECT j.job_user, j.project, j.job_name, j.launching_directory, j.stdout_file, j.stderr_file, j.array_id, j.array_index,
		(SELECT MIN(k.ssh_private_key) FROM challenges k WHERE k.job_id = j.job_id), (SELECT MIN(k.ssh_public_key) FROM challenges k WHERE k.job_id = j.job_id),
		(SELECT MIN(m.moldable_walltime) FROM moldable_job_descriptions m WHERE m.moldable_job_id = j.job_id AND j.assigned_moldable_job IN (0, m.moldable_id))
		FROM jobs j WHERE j.job_id = %d`, job)
	var w map[string]string
	err := database.Rows(ctx, c.db.Sql, "the job", query, nil, func(row *sql.Rows) error {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err := row.Scan(into...)
		w = map[string]string{}
		for i, name := range columns {
			w[name] = values[i].String
		}
		for _, name := range []string{"stdout_file", "stderr_file"} {
			w[name] = strings.ReplaceAll(w[name], "%jobid%", strconv.FormatInt(job, 10))
		}
		return err
	})
	if err == nil && w == nil {
		err = fmt.Errorf("OAR does not know job %d", job)
	}
	return w, err
}

// types returns the job's types by name. A type without a value has the value "true".
func (c Sets) types(ctx context.Context, job int64) (map[string]any, error) {
	types := map[string]any{}
	texts, err := database.Column[string](ctx, c.db.Sql, "the job's types", fmt.Sprintf("SELECT type FROM job_types WHERE job_id = %d", job))
	for _, text := range texts {
		name, value, given := strings.Cut(text, "=")
		if !given {
			value = "true"
		}
		types[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return types, err
}

// processors returns the numbers of each host's processors from OAR's tables, as a list of strings for each host.
func (c Sets) processors(ctx context.Context, hosts []string) (map[string]any, error) {
	found := map[string]any{}
	where, args := c.db.In("network_address", hosts)
	query := fmt.Sprintf(`SELECT network_address, %[1]s FROM resources WHERE %[2]s AND (type = 'default' OR type = %[3]s) AND state <> 'Dead'
		GROUP BY network_address, %[1]s ORDER BY network_address, %[1]s`, c.manager.conf.Property, where, c.db.Arg(len(hosts)+1))
	err := database.Rows(ctx, c.db.Sql, "the nodes' processors", query, append(args, c.manager.conf.Always), func(row *sql.Rows) error {
		var host string
		var numbers sql.NullString
		err := row.Scan(&host, &numbers)
		all, _ := found[host].([]any)
		found[host] = append(all, numbers.String)
		return err
	})
	return found, err
}

// clock formats seconds as H:M:S, as OAR does.
func clock(seconds string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return seconds
	}
	return fmt.Sprintf("%d:%d:%d", n/3600, n/60%60, n%60)
}
