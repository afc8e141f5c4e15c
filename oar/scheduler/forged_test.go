package scheduler_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"pgregory.net/rapid"

	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/database"
)

// forged is a database with MariaDB's dialect and with invented rows in OAR's and Accordion's tables. OAR's columns have their real names.
type forged struct {
	*database.DB
	t    tester
	rows int64 // number of rows so far, for IDs
}

// plain is MariaDB's dialect without the features that only a real server supports.
type plain struct{ database.Dialect }

func (plain) OwnSchema() string                   { return "'here'" }
func (plain) StatementLimit(time.Duration) string { return "SELECT 1" }
func (plain) ResetStatement() string              { return "SELECT 1" }

var schema = []string{
	"ATTACH ':memory:' AS information_schema",
	"CREATE TABLE information_schema.tables (table_schema, table_name)",
	"INSERT INTO information_schema.tables VALUES ('here', 'accordion_jobs'), ('here', 'accordion_reservations'), ('here', 'accordion_places'), ('here', 'accordion_cpusets')",
	`CREATE TABLE jobs (job_id INTEGER, submission_time INTEGER DEFAULT 500, job_name TEXT, job_user TEXT DEFAULT 'alice', project TEXT DEFAULT '', queue_name TEXT,
		state TEXT, reservation TEXT DEFAULT 'None', start_time INTEGER DEFAULT 0, assigned_moldable_job INTEGER DEFAULT 0, message TEXT DEFAULT '', properties TEXT, checkpoint INTEGER DEFAULT 0, suspended TEXT DEFAULT 'NO')`,
	"CREATE TABLE job_types (job_type_id INTEGER, job_id INTEGER, type TEXT, types_index TEXT DEFAULT 'CURRENT')",
	"CREATE TABLE moldable_job_descriptions (moldable_id INTEGER, moldable_job_id INTEGER, moldable_walltime INTEGER, moldable_index TEXT DEFAULT 'CURRENT')",
	"CREATE TABLE job_resource_groups (res_group_id INTEGER, res_group_moldable_id INTEGER, res_group_property TEXT, res_group_index TEXT DEFAULT 'CURRENT')",
	"CREATE TABLE job_resource_descriptions (res_job_group_id INTEGER, res_job_resource_type TEXT, res_job_value INTEGER, res_job_order INTEGER DEFAULT 0, res_job_index TEXT DEFAULT 'CURRENT')",
	"CREATE TABLE job_dependencies (job_id INTEGER, job_id_required INTEGER, job_dependency_index TEXT DEFAULT 'CURRENT')",
	"CREATE TABLE job_state_logs (job_id INTEGER, job_state TEXT, date_start INTEGER, date_stop INTEGER)",
	"CREATE TABLE event_logs (event_id INTEGER, job_id INTEGER, type TEXT, date INTEGER, description TEXT)",
	"CREATE TABLE gantt_jobs_predictions (moldable_job_id INTEGER, start_time INTEGER)",
	"CREATE TABLE gantt_jobs_resources (moldable_job_id INTEGER, resource_id INTEGER)",
	"CREATE TABLE gantt_jobs_predictions_visu (moldable_job_id INTEGER, start_time INTEGER)",
	"CREATE TABLE gantt_jobs_resources_visu (moldable_job_id INTEGER, resource_id INTEGER)",
	"CREATE TABLE assigned_resources (moldable_job_id INTEGER, resource_id INTEGER, assigned_resource_index TEXT DEFAULT 'CURRENT')",
	"CREATE TABLE resources (resource_id INTEGER, network_address TEXT, state TEXT, type TEXT DEFAULT 'default', drain TEXT DEFAULT 'NO')",
	"CREATE TABLE queues (queue_name TEXT, priority INTEGER, state TEXT DEFAULT 'Active', scheduler_policy TEXT DEFAULT '')",
	"INSERT INTO queues (queue_name, priority) VALUES ('evolve', 20), ('admin', 30), ('default', 2)",
	"CREATE TABLE accordion_jobs (job_id INTEGER, submitted INTEGER DEFAULT 500, mark TEXT DEFAULT '', base INTEGER DEFAULT 0, released INTEGER DEFAULT 0, reservation TEXT DEFAULT '')",
	"CREATE TABLE accordion_reservations (name TEXT, owner TEXT DEFAULT '', start_time INTEGER, end_time INTEGER, over_managed INTEGER DEFAULT 0, idle INTEGER DEFAULT 0, holder INTEGER)",
	"CREATE TABLE accordion_places (job_id INTEGER, resource_id INTEGER)",
}

// tester is a test, or a check of a property.
type tester interface {
	rapid.TB
	Context() context.Context
}

// forge makes empty tables.
func forge(t tester) *forged {
	// The database has one connection, because each connection would have its own in-memory tables.
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	c := conf.Conf{Type: "mysql", SecurityTime: 5, Besteffort: 300, Order: "resource_id ASC", SuspendedFree: []string{"default"}}
	f := &forged{DB: &database.DB{Dialect: plain{database.DialectOf(c)}, Conf: c, Sql: db, Users: db}, t: t}
	for _, statement := range schema {
		f.do(statement)
	}
	return f
}

func (f *forged) do(statement string, args ...any) {
	if _, err := f.Sql.Exec(statement, args...); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// number returns an ID that no other row has.
func (f *forged) number() int64 {
	f.rows++
	return f.rows
}

// size is what one -l option of a job requests.
type size struct {
	hosts    int
	walltime core.Time
}

// submit adds a job with the listed sizes, and returns its ID and the IDs of its configurations.
func (f *forged) submit(queue, state string, types []string, listed ...size) (job int64, configurations []int64) {
	job = f.number()
	f.do("INSERT INTO jobs (job_id, queue_name, state) VALUES (?, ?, ?)", job, queue, state)
	f.do("INSERT INTO job_state_logs VALUES (?, ?, 0, 0)", job, state)
	for _, one := range types {
		f.do("INSERT INTO job_types (job_type_id, job_id, type) VALUES (?, ?, ?)", f.number(), job, one)
	}
	for _, one := range listed {
		moldable, group := f.number(), f.number()
		configurations = append(configurations, moldable)
		f.do("INSERT INTO moldable_job_descriptions (moldable_id, moldable_job_id, moldable_walltime) VALUES (?, ?, ?)", moldable, job, one.walltime)
		f.do("INSERT INTO job_resource_groups (res_group_id, res_group_moldable_id, res_group_property) VALUES (?, ?, ?)", group, moldable, "type = 'default'")
		f.do("INSERT INTO job_resource_descriptions (res_job_group_id, res_job_resource_type, res_job_value) VALUES (?, 'network_address', ?)", group, one.hosts)
	}
	return job, configurations
}

// wasSuspended records that a job was suspended for `lasted` seconds, and then resumed.
func (f *forged) wasSuspended(job int64, since, lasted core.Time) {
	f.do("UPDATE jobs SET suspended = 'YES' WHERE job_id = ?", job)
	f.do("INSERT INTO job_state_logs VALUES (?, 'Suspended', ?, ?)", job, since, since+lasted)
}

// planned puts a configuration into OAR's plan, from a second on. If `shown` is set, it writes to the tables that OAR's tools display, and
// otherwise to the tables of the schedulers.
func (f *forged) planned(configuration int64, from core.Time, resources []int64, shown bool) {
	kind := ""
	if shown {
		kind = "_visu"
	}
	f.do("INSERT INTO gantt_jobs_predictions"+kind+" VALUES (?, ?)", configuration, from)
	for _, r := range resources {
		f.do("INSERT INTO gantt_jobs_resources"+kind+" VALUES (?, ?)", configuration, r)
	}
}

// runs makes a job run in a configuration since a second.
func (f *forged) runs(job, configuration int64, since core.Time, resources []int64) {
	f.do("UPDATE jobs SET start_time = ?, assigned_moldable_job = ? WHERE job_id = ?", since, configuration, job)
	for _, r := range resources {
		f.do("INSERT INTO assigned_resources (moldable_job_id, resource_id) VALUES (?, ?)", configuration, r)
	}
	f.planned(configuration, since, resources, false)
}

// profiles returns alternatives as types.
func profiles(listed []size) (types []string) {
	for i, one := range listed {
		types = append(types, fmt.Sprintf("ep%d=%dx%ds", i+1, one.hosts, one.walltime))
	}
	return types
}

// steps returns a profile of several steps as a type.
func steps(listed []size) []string {
	var all []string
	for _, one := range listed {
		all = append(all, fmt.Sprintf("%dx%ds", one.hosts, one.walltime))
	}
	return []string{"ep=" + strings.Join(all, ",")}
}
