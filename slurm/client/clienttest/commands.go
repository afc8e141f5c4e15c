package clienttest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core/hostlist"
)

// This file carries out the commands that the simulated Slurm supports. The caller of each function holds the lock.

// atoi returns the number in a text, or 0 if the text is not a number.
func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func (s *Slurm) scontrol(format string, words []string) (out, said string) {
	if len(words) < 2 {
		return "", "invalid keyword: " + strings.Join(words, " ") + "\n"
	}
	stamp := strings.TrimSuffix(format, "%s")
	switch verb, what := words[0], words[1]; {
	case verb == "show":
		name := ""
		if len(words) > 2 {
			name = words[2]
		}
		return s.show(stamp, strings.TrimSuffix(what, "s"), name)
	case verb == "update" && what == "reservation", verb == "create":
		return s.reserve(verb, settings(words[2:]))
	case verb == "update":
		return "", s.update(settings(words[1:]))
	case verb == "delete":
		return s.unreserve(settings(words[1:])["ReservationName"])
	}
	return "", s.command(words[0], atoi(words[1]))
}

// notFound returns the answer for an unknown object. scontrol then exits with status 1, but a console reports no exit
// code.
const notFound = " not found\n"

// settings parses KEY=VALUE words.
func settings(words []string) map[string]string {
	all := map[string]string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		all[key] = value
	}
	return all
}

// recent reports whether this is a recent release. A recent release prints less about reservations, and needs
// NumNodes= in addition to NodeList= to shrink a job.
func (s *Slurm) recent() bool { return s.release > "23.11" }

// once returns the text on older releases, and "" on recent ones.
func (s *Slurm) once(text string) string {
	if s.recent() {
		return ""
	}
	return text
}

// show answers `scontrol show`.
func (s *Slurm) show(stamp, what, name string) (out, said string) {
	var b strings.Builder
	switch what {
	case "config":
		for key, value := range s.config {
			fmt.Fprintf(&b, "%s = %s\n", key, value)
		}
	case "node":
		names, _ := hostlist.Expand(name)
		for _, line := range s.nodes {
			if node := field(line, "NodeName"); name == "" || slices.Contains(names, node) {
				b.WriteString(s.nodeLine(line, node) + "\n")
			}
		}
		if b.Len() == 0 {
			return "Node " + name + notFound, ""
		}
	case "partition":
		b.WriteString(strings.Join(s.partitions, "\n") + "\n")
	case "reservation":
		for _, r := range s.reservations {
			if name == "" || r.Name == name {
				b.WriteString(s.reservationLine(stamp, r) + "\n")
			}
		}
		if b.Len() == 0 {
			return map[bool]string{true: "No reservations in the system\n", false: "Reservation " + name + notFound}[name == ""], ""
		}
	case "step":
		return s.showSteps(name)
	case "job":
		for _, j := range s.jobs {
			if name == "" || fmt.Sprint(j.ID) == name {
				b.WriteString(s.jobLine(stamp, j) + "\n")
			}
		}
		if b.Len() == 0 && name != "" {
			return "", "slurm_load_jobs error: Invalid job id specified\n"
		}
		if b.Len() == 0 {
			return "No jobs in the system\n", ""
		}
	}
	return b.String(), ""
}

func (s *Slurm) showSteps(job string) (out, said string) {
	j := s.job(atoi(job))
	if j == nil {
		return "", map[bool]string{true: "scontrol: error: scontrol_print_step: slurm_get_job_steps(" + job + ") failed: ", false: "slurm_get_job_steps error: "}[s.recent()] + "Invalid job id specified\n"
	}
	if len(j.Steps) == 0 {
		return "Job step " + job + "." + notFound, ""
	}
	for _, step := range j.Steps {
		out += fmt.Sprintf("StepId=%d.%s UserId=%d StartTime=%d TimeLimit=UNLIMITED State=RUNNING Partition=%s NodeList=%s\n", j.ID, step, j.UID, j.Started, j.Partition, compact(j.Nodes))
	}
	return out, ""
}

// nodeLine returns the line of a node with its present state.
func (s *Slurm) nodeLine(line, node string) string {
	state, cpus := "IDLE", "0"
	for _, j := range s.jobs {
		if !j.active() || !slices.Contains(j.Nodes, node) {
			continue
		}
		if state, cpus = "ALLOCATED", field(line, "CPUTot"); j.State == "COMPLETING" {
			state = "ALLOCATED+COMPLETING"
		}
	}
	return with(with(line, "State", cmp.Or(s.states[node], state)), "CPUAlloc", cpus)
}

func (s *Slurm) reservationLine(stamp string, r *Reservation) string {
	line := s.templates["reservation"]
	state := "INACTIVE"
	if now := time.Now().Unix(); r.Start <= now && now < r.End {
		state = "ACTIVE"
	}
	for key, value := range map[string]string{
		"ReservationName": r.Name, "StartTime": fmt.Sprint(stamp, r.Start), "EndTime": fmt.Sprint(stamp, r.End), "Nodes": cmp.Or(compact(r.Nodes), "(null)"),
		"NodeCnt": fmt.Sprint(len(r.Nodes)), "Flags": r.Flags + ",SPEC_NODES", "Users": r.User, "State": state,
	} {
		line = with(line, key, value)
	}
	return line
}

// jobLine returns the line of a job as a console of the release shows it. It modifies a recorded line of a similar
// job.
func (s *Slurm) jobLine(stamp string, j *Job) string {
	line := s.templates["runs"]
	switch {
	case !j.Batch:
		line = s.templates["alloc"]
	case j.State == "PENDING":
		line = s.templates["managed"]
	}
	at := func(second int64) string {
		if second == 0 {
			return "Unknown"
		}
		return fmt.Sprint(stamp, second)
	}
	v := s.values(j)
	host := ""
	if len(j.Nodes) > 0 {
		host = j.Nodes[0]
	}
	ends := j.Ends
	if ends == 0 && j.Started > 0 && j.Limit > 0 {
		ends = j.Started + j.Limit*60
	}
	for key, value := range map[string]string{
		"JobId": v["JobID"], "JobName": j.Name, "UserId": fmt.Sprintf("%s(%d)", j.User, j.UID), "GroupId": fmt.Sprintf("users(%d)", j.GID), "Account": v["Account"], "QOS": j.QOS,
		"JobState": j.State, "Reason": j.Reason, "Dependency": v["Dependency"], "TimeLimit": shownLimit(j.Limit),
		"SubmitTime": at(j.Submitted), "EligibleTime": at(j.Submitted), "AccrueTime": at(j.Submitted), "StartTime": at(j.Started), "EndTime": at(ends), "LastSchedEval": at(j.Submitted),
		"Partition": j.Partition, "ReqNodeList": "(null)", "NodeList": v["NodeList"], "BatchHost": host, "NumNodes": v["NumNodes"], "NumCPUs": v["NumCPUs"], "NumTasks": v["NumTasks"],
		"TRES": v["tres-alloc"], "AllocTRES": v["tres-alloc"], "ReqTRES": v["tres-alloc"], "MinMemoryNode": fmt.Sprintf("%dM", j.Memory), "Features": "(null)", "Priority": v["PriorityLong"],
	} {
		line = with(line, key, value)
	}
	if j.Resized > 0 {
		line = strings.Replace(line, " StartTime=", " ResizeTime="+at(j.Resized)+" StartTime=", 1)
	}
	if j.Reservation != "" {
		line = strings.Replace(line, " OverSubscribe=", " Reservation="+j.Reservation+" OverSubscribe=", 1)
	}
	free := ""
	if j.Mark != "" {
		free += " AdminComment=" + j.Mark + " "
	}
	if j.Comment != "" {
		free += " Comment=" + j.Comment + " "
	}
	home := field(line, "WorkDir")
	line = strings.Replace(line, " WorkDir="+home, " WorkDir="+home+free, 1)
	if j.GRES != "" {
		line = strings.TrimRight(line, " ") + " TresPerNode=gres:" + j.GRES + " "
	}
	return line
}

// shownLimit formats minutes as scontrol does.
func shownLimit(minutes int64) string {
	switch {
	case minutes == 0:
		return "UNLIMITED"
	case minutes >= 24*60:
		return fmt.Sprintf("%d-%02d:%02d:00", minutes/(24*60), minutes/60%24, minutes%60)
	}
	return fmt.Sprintf("%02d:%02d:00", minutes/60, minutes%60)
}

// values returns what squeue prints for a job, by field name.
func (s *Slurm) values(j *Job) map[string]string {
	null := func(text string) string { return cmp.Or(text, "(null)") }
	cpus := 0
	for _, line := range s.nodes {
		if slices.Contains(j.Nodes, field(line, "NodeName")) {
			cpus += atoi(field(line, "CPUTot"))
		}
	}
	depends, host, nodes, gres := "(null)", "n/a", compact(j.Nodes), "N/A"
	if j.Expands != 0 && j.State == "PENDING" {
		depends = fmt.Sprintf("expand:%d", j.Expands)
	}
	if len(j.Nodes) > 0 {
		host = j.Nodes[0]
	}
	if j.over() {
		nodes = ""
	}
	if j.GRES != "" {
		gres = "gres:" + j.GRES
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	count, batch := fmt.Sprint(len(j.Nodes)), "0"
	if j.Batch {
		batch = "1"
	}
	start := "N/A"
	if j.Started > 0 {
		start = number(j.Started)
	}
	limit := "UNLIMITED"
	if j.Limit > 0 {
		limit = fmt.Sprintf("%d:00", j.Limit)
	}
	tres := "N/A"
	if cpus > 0 {
		tres = fmt.Sprintf("cpu=%d,node=%d,billing=%d", cpus, len(j.Nodes), cpus)
	}
	return map[string]string{
		"JobID": number(int64(j.ID)), "ArrayJobID": number(int64(j.ID)), "ArrayTaskID": "N/A", "HetJobID": "N/A", "BatchFlag": batch, "State": j.State, "UserName": j.User, "UserID": number(int64(j.UID)),
		"GroupID": number(int64(j.GID)), "Partition": j.Partition, "QOS": j.QOS, "NumNodes": count, "MaxNodes": count, "NumTasks": count, "NumCPUs": fmt.Sprint(cpus),
		"TimeLimit": limit, "StartTime": start, "EligibleTime": number(j.Submitted), "SubmitTime": number(j.Submitted), "PriorityLong": "4294901704", "Nice": "0",
		"Reservation": null(j.Reservation), "Dependency": depends, "BatchHost": host, "NodeList": nodes, "MinCPUs": "1", "MinMemory": fmt.Sprintf("%dM", j.Memory),
		"OverSubscribe": "NO", "tres-alloc": tres, "Deadline": "N/A", "MinTime": "0:00", "Reason": j.Reason,
		"admin_comment": null(j.Mark), "Name": j.Name, "Comment": null(j.Comment), "Account": null(j.Account), "Feature": "(null)", "AllocNodes": "localhost",
		"tres-per-node": gres, "tres-per-job": "N/A", "tres-per-task": "N/A",
	}
}

// squeue lists jobs with the fields of SQUEUE_FORMAT2.
func (s *Slurm) squeue(format string, options map[string]string) (out, said string) {
	var only []int
	if list, some := options["--jobs"]; some {
		for _, id := range strings.Split(list, ",") {
			only = append(only, atoi(id))
		}
		if len(only) == 1 && s.job(only[0]) == nil {
			return "", "slurm_load_jobs error: Invalid job id specified\n"
		}
	}
	var b strings.Builder
	for _, j := range s.jobs {
		if only != nil && !slices.Contains(only, j.ID) || j.over() && options["--states"] != "all" {
			continue
		}
		v := s.values(j)
		for _, one := range strings.Split(format, ",") {
			name, separator, _ := strings.Cut(one, ":")
			b.WriteString(v[name] + separator)
		}
		b.WriteString("\n")
	}
	return b.String(), ""
}

// salloc adds an allocation, or returns the reason for a refusal.
func (s *Slurm) salloc(o map[string]string) (said string) {
	refused := func(why string) string { return "salloc: error: Unable to allocate resources: " + why + "\n" }
	nodes, _ := hostlist.Expand(o["--nodelist"])
	j := Job{Name: o["--job-name"], Partition: o["--partition"], Nodes: nodes, Reservation: o["--reservation"], Account: o["--account"], QOS: o["--qos"],
		Memory: int64(atoi(o["--mem"])), GRES: o["--gres"], Limit: int64(atoi(o["--time"]))}
	if parent, expands := strings.CutPrefix(o["--dependency"], "expand:"); expands {
		p := s.job(atoi(parent))
		if p == nil || p.State != "RUNNING" {
			return refused("Job dependency problem")
		}
		j.Expands, j.Limit = p.ID, p.Limit
	}
	if uid, given := o["--uid"]; given {
		j.UID, j.GID = atoi(uid), atoi(o["--gid"])
	}
	for _, owner := range s.jobs { // a job of this user, with any name
		if _, given := o["--uid"]; !given || owner.UID == j.UID {
			j.User, j.UID, j.GID = owner.User, owner.UID, owner.GID
			break
		}
	}
	if why := s.unavailable(&j); why != "" {
		return refused(why)
	}
	return fmt.Sprintf("salloc: Granted job allocation %d\n", s.add(j).ID)
}

// unavailable returns why an allocation cannot have its nodes immediately, or "" if it can.
func (s *Slurm) unavailable(j *Job) string {
	r := s.reservation(j.Reservation)
	if j.Reservation != "" && r == nil {
		return "Requested reservation is invalid"
	}
	most := 1
	for _, line := range s.partitions {
		if field(line, "PartitionName") == j.Partition && strings.HasPrefix(field(line, "OverSubscribe"), "YES:") {
			most = atoi(strings.TrimPrefix(field(line, "OverSubscribe"), "YES:"))
		}
	}
	for _, node := range j.Nodes {
		holders := 0
		for _, other := range s.jobs {
			if other.active() && slices.Contains(other.Nodes, node) {
				holders++
			}
		}
		switch {
		case strings.Contains(s.states[node], "DRAIN"), strings.Contains(s.states[node], "DOWN"):
			return "Required node not available (down, drained or reserved)"
		case holders >= most, r != nil && !slices.Contains(r.Nodes, node):
			return "Requested nodes are busy"
		}
	}
	return ""
}

// scancel ends jobs, and steps of jobs.
func (s *Slurm) scancel(what []string) (said string) {
	for _, name := range what {
		id, step, isStep := strings.Cut(name, ".")
		j := s.job(atoi(id))
		switch {
		case j == nil: // scancel prints no message about an unknown job
		case isStep && !slices.Contains(j.Steps, step), j.over():
			said += "scancel: error: Kill job error on job step id " + name + ": Job/step already completing or completed\n"
		case isStep:
			j.Steps = slices.DeleteFunc(j.Steps, func(one string) bool { return one == step })
		default:
			s.end(j, "CANCELLED")
		}
	}
	return said
}

// end ends a job.
func (s *Slurm) end(j *Job, state string) {
	j.State, j.Reservation, j.Steps, j.Ends = state, "", nil, time.Now().Unix()
}

// command carries out the scontrol command `verb` for a job.
func (s *Slurm) command(verb string, id int) (said string) {
	j := s.job(id)
	if j == nil || j.over() {
		return "Invalid job id specified for job " + fmt.Sprint(id) + "\n"
	}
	switch verb {
	case "suspend":
		j.State = "SUSPENDED"
	case "resume":
		j.State = "RUNNING"
	}
	return ""
}

// update changes a job.
func (s *Slurm) update(set map[string]string) (said string) {
	refused := func(why string) string { return why + " for job " + set["JobId"] + "\n" }
	j := s.job(atoi(set["JobId"]))
	if j == nil {
		return refused("Invalid job id specified")
	}
	if j.over() {
		return refused("Job has already finished")
	}
	if mark, given := set["AdminComment"]; given {
		j.Mark = mark
	}
	if name, given := set["ReservationName"]; given {
		if name != "" && s.reservation(name) == nil {
			return refused("Requested reservation is invalid")
		}
		j.Reservation = name
	}
	if limit, given := set["TimeLimit"]; given {
		j.Limit = int64(atoi(limit))
	}
	switch list, given := set["NodeList"]; {
	case given:
		nodes, _ := hostlist.Expand(list)
		if !slices.ContainsFunc(nodes, func(n string) bool { return slices.Contains(j.Nodes, n) }) {
			return refused("Invalid node name specified")
		}
		if s.recent() && set["NumNodes"] == "" { // the update then changes only the job's request
			return ""
		}
		j.Nodes = slices.DeleteFunc(slices.Clone(j.Nodes), func(n string) bool { return !slices.Contains(nodes, n) })
		j.Resized = time.Now().Unix()
	case set["NumNodes"] == "0":
		return s.merge(j)
	}
	return ""
}

// merge moves the nodes of an expander to its parent. If the parent has ended, they are lost.
func (s *Slurm) merge(e *Job) (said string) {
	parent := s.job(e.Expands)
	switch {
	case parent == nil:
		return fmt.Sprintf("Invalid job id specified for job %d\n", e.ID)
	case len(e.Steps) > 0:
		return fmt.Sprintf("Job step already exists for job %d\n", e.ID)
	}
	for _, n := range e.Nodes {
		if !slices.Contains(parent.Nodes, n) {
			parent.Nodes = append(parent.Nodes, n)
		}
	}
	parent.Resized = time.Now().Unix()
	s.end(e, "COMPLETED")
	return ""
}

// reserve creates or changes a reservation.
func (s *Slurm) reserve(verb string, set map[string]string) (out, said string) {
	name := set["ReservationName"]
	r := s.reservation(name)
	switch {
	case verb == "create" && r != nil:
		return "", "Error creating the reservation: Duplicate reservation name\n"
	case verb == "update" && r == nil:
		return "", s.once("Error updating the reservation: Requested reservation is invalid\n") + "slurm_update error: Requested reservation is invalid\n"
	case r == nil:
		r = &Reservation{Name: name}
	}
	next := *r
	for key, value := range set {
		switch key {
		case "Nodes":
			next.Nodes, _ = hostlist.Expand(value)
		case "Users":
			next.User = value
		case "StartTime":
			next.Start = instant(value)
		case "EndTime":
			next.End = instant(value)
		case "Flags":
			next.Flags = value
		case "Flags+":
			next.Flags = strings.Trim(next.Flags+","+value, ",")
		case "Flags-":
			next.Flags = strings.Trim(strings.ReplaceAll(","+next.Flags+",", ","+value+",", ","), ",")
		}
	}
	if why := s.unreservable(r, &next); why != "" {
		return "", s.once("Note, unless nodes are directly requested a reservation must exist in a single partition.\n"+
			"If no partition is requested the default partition is assumed.\n") + "Error creating the reservation: " + why + "\n"
	}
	if *r = next; verb == "create" {
		s.reservations = append(s.reservations, r)
		return "Reservation created: " + name + "\n", ""
	}
	return "Reservation updated.\n", ""
}

// unreservable returns why a reservation cannot have its nodes, or "" if it can. Slurm checks which jobs hold
// the nodes unless the reservation has the flag IGNORE_JOBS.
func (s *Slurm) unreservable(old, r *Reservation) string {
	if strings.Contains(r.Flags, "IGNORE_JOBS") || len(old.Nodes) > 0 {
		return ""
	}
	for _, j := range s.jobs {
		if j.active() && len(hostlist.Within(j.Nodes, hostlist.Set(r.Nodes))) > 0 && (j.Limit == 0 || j.Started+j.Limit*60 > r.Start) {
			return "Requested nodes are busy"
		}
	}
	return ""
}

// instant parses a time as written for scontrol: "now", or "uts" followed by Unix seconds.
func instant(text string) int64 {
	if text == "now" {
		return time.Now().Unix()
	}
	return int64(atoi(strings.TrimPrefix(text, "uts")))
}

// unreserve deletes a reservation.
func (s *Slurm) unreserve(name string) (out, said string) {
	r := s.reservation(name)
	if r == nil {
		return "", "delete_reservation ReservationName=" + name + ": Requested reservation is invalid\n"
	}
	for _, j := range s.jobs {
		if !j.over() && j.Reservation == name && s.release > "21" { // 20.11 deletes the reservation, and the job continues
			return "", "delete_reservation ReservationName=" + name + ": Requested reservation is in use\n"
		}
	}
	s.reservations = slices.DeleteFunc(s.reservations, func(one *Reservation) bool { return one == r })
	return "", ""
}
