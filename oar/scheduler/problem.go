package scheduler

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"accordion/core"
	"accordion/core/sched"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/planner"
)

// problem is what a pass has to plan, in the planner's terms.
type problem struct {
	ids           []int64 // IDs of the resources, by index
	usable        planner.Set
	claims        []planner.Claim // OAR's plan
	jobs          []planner.Job
	refuse        map[int64]string // reasons, in one line, why jobs are not planned
	turns         []planner.Job    // the sidecar's jobs, for which the pass keeps nodes but writes no place
	recentlyFreed planner.Set      // resources that became free within sidecarLead

	sidecar   sidecar
	rule      planner.Rule
	claimants []int64 // the jobs of the claims
	fixed     fixed
	between   core.Time // seconds between two jobs on a resource
}

// translator builds the problem from what was read.
type translator struct {
	conf       conf.Conf
	planner    sched.Policy
	now        core.Time
	state      *state
	eligible   *eligibility
	index      map[int64]int // index of a resource, by ID
	properties map[string]planner.Property
	trees      map[string]*planner.Tree
	sets       map[string]planner.Set
	columns    map[string]columnValues // columns that conditions name
}

// translate reads the requests. It refuses jobs whose requests are not supported. It returns an error only if the
// database fails.
func (t *translator) translate(ctx context.Context) (*problem, error) {
	n := len(t.state.resources)
	p := &problem{usable: planner.NewSet(n), refuse: map[int64]string{}, between: t.conf.SecurityTime, sidecar: t.state.sidecar}
	t.index, t.trees, t.sets = map[int64]int{}, map[string]*planner.Tree{}, map[string]planner.Set{}
	for i, r := range t.state.resources {
		t.index[r.id] = i
		p.ids = append(p.ids, r.id)
		if r.alive {
			p.usable.Add(i)
		}
	}
	t.arrange()
	for _, c := range t.state.claims {
		p.claims = append(p.claims, t.claim(c))
		p.claimants = append(p.claimants, c.job)
	}
	others := t.fix(p)
	t.eligible.all(ctx, t.wishes(others))
	p.turns, p.recentlyFreed = t.turns(ctx), t.recentlyFreed(n)
	p.rule = planner.Rule{Policy: t.planner, Running: t.running(p), Beside: t.evolvingWaiting(p)}
	mine := map[int64]bool{}
	for _, w := range others {
		j, err := t.job(ctx, w, mine)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading the requests: %w", context.Cause(ctx))
		}
		if err != nil {
			p.refuse[w.id] = database.OneLine(err)
			continue
		}
		mine[w.id] = true
		p.jobs = append(p.jobs, j)
	}
	return p, nil
}

// arrange numbers the values of each column.
func (t *translator) arrange() {
	t.properties = map[string]planner.Property{}
	for k, name := range t.state.levels {
		numbers := map[string]int32{}
		of := make(planner.Property, len(t.state.resources))
		for i, r := range t.state.resources {
			of[i] = -1
			if value := r.values[k]; value != "" {
				number, known := numbers[value]
				if !known {
					number = int32(len(numbers))
					numbers[value] = number
				}
				of[i] = number
			}
		}
		t.properties[name] = of
	}
	t.columns = map[string]columnValues{}
	for k, name := range t.state.levels {
		of := columnValues{kind: t.state.kinds[name]}
		for _, r := range t.state.resources {
			of.values = append(of.values, r.values[k])
		}
		t.columns[name] = of
	}
	each := make(planner.Property, len(t.state.resources))
	for i := range each {
		each[i] = int32(i)
	}
	t.properties["resource_id"] = each
}

func (t *translator) claim(c claim) planner.Claim {
	held := planner.NewSet(len(t.state.resources))
	leaves := c.state == "Suspended" && !t.keepsResources(c.job)
	for _, id := range c.resources {
		i, known := t.index[id]
		if known && !(leaves && slices.Contains(t.conf.SuspendedFree, t.state.resources[i].kind)) {
			held.Add(i)
		}
	}
	return planner.Claim{Resources: held, From: c.from, To: c.from + c.walltime + c.suspended + t.conf.SecurityTime}
}

// keepsResources reports whether a job keeps its resources while it is suspended, because it has the sidecar's promise for them.
func (t *translator) keepsResources(job int64) bool {
	if t.state.orders == nil {
		return false
	}
	_, adopted := t.state.orders.Jobs[job]
	return adopted
}

// job reads one request. `mine` contains the earlier jobs that will be planned.
func (t *translator) job(ctx context.Context, w *waiting, mine map[int64]bool) (planner.Job, error) {
	j := planner.Job{ID: w.id, Submit: w.submitted, Gap: 2 * t.conf.SecurityTime}
	kind, err := ReadTypes(w.types)
	if err != nil {
		return j, err
	}
	if kind.expire > 0 && t.now > kind.expire {
		return j, errors.New("it expired before it could start")
	}
	j.Begin, j.Deadline = kind.Postpone, kind.deadline
	if kind.deadline > 0 {
		j.Deadline += t.conf.SecurityTime
	}
	if err := t.depend(&j, w, mine); err != nil {
		return j, err
	}
	for _, c := range w.choices {
		made, err := t.choice(c, func(g *group, levels []planner.Property) (*planner.Tree, error) { return t.tree(ctx, w, g, levels) })
		if err != nil {
			return j, err
		}
		made.Duration = c.walltime + t.conf.SecurityTime
		if kind.besteffort {
			made.Duration, j.Uncounted = t.conf.Besteffort, t.state.queue != besteffort
		} else {
			j.Pause = t.conf.SecurityTime
		}
		j.Choices = append(j.Choices, made)
	}
	if len(j.Choices) == 0 {
		return j, errors.New("its request names no resources")
	}
	return j, nil
}

// depend reads the jobs for which this job waits.
func (t *translator) depend(j *planner.Job, w *waiting, mine map[int64]bool) error {
	for _, on := range w.after {
		if on.state == "Terminated" || on.state == "Error" {
			continue
		}
		if mine[on.job] {
			j.After = append(j.After, on.job)
			continue
		}
		i := slices.IndexFunc(t.state.claims, func(c claim) bool { return c.job == on.job })
		if i < 0 {
			return fmt.Errorf("it waits for job %d, which has no planned start", on.job)
		}
		c := t.state.claims[i]
		j.Begin = max(j.Begin, c.from+c.walltime+c.suspended+2*t.conf.SecurityTime)
	}
	return nil
}

// choice reads a configuration of a request. The function `tree` returns the tree of resources that a part of the configuration may have.
func (t *translator) choice(c *choice, tree func(*group, []planner.Property) (*planner.Tree, error)) (made planner.Choice, err error) {
	if c.walltime < 1 || c.walltime > core.MaxTotal {
		return made, fmt.Errorf("a walltime of %d s is not 1 s to %d days", c.walltime, core.MaxTotal/86400)
	}
	made.ID = c.id
	for _, g := range c.groups {
		var part planner.Group
		levels := make([]planner.Property, 0, len(g.levels))
		for _, l := range g.levels {
			of, err := t.level(l)
			if err != nil {
				return made, err
			}
			levels, part.Counts = append(levels, of), append(part.Counts, l.count)
		}
		if part.Tree, err = tree(g, levels); err != nil {
			return made, err
		}
		made.Groups = append(made.Groups, part)
	}
	return made, nil
}

// tree returns the tree of the resources that match the properties of a job and of a part of its request.
func (t *translator) tree(ctx context.Context, w *waiting, g *group, levels []planner.Property) (*planner.Tree, error) {
	one := wishOf(w, g)
	key := one.text
	eligible, known := t.knownResources(key)
	if !known {
		if _, asked := t.eligible.found[key]; !asked && t.later(w) {
			return nil, fmt.Errorf("its properties: %w", errLater)
		}
		ids, err := t.eligible.of(ctx, one)
		if err != nil {
			return nil, fmt.Errorf("its properties: %w", err)
		}
		eligible = planner.NewSet(len(t.state.resources))
		for _, id := range ids {
			if i, here := t.index[id]; here {
				eligible.Add(i)
			}
		}
		t.sets[key] = eligible
	}
	for _, l := range g.levels {
		key += "\x00" + l.column
	}
	if t.trees[key] == nil {
		t.trees[key] = planner.NewTree(eligible, levels...)
	}
	return t.trees[key], nil
}

// knownResources returns the resources that a text selects. The second result is false if only the database can evaluate the text.
func (t *translator) knownResources(text string) (planner.Set, bool) {
	if set, known := t.sets[text]; known {
		return set, true
	}
	means, is := t.state.conditions[text]
	if !is {
		return nil, false
	}
	met, exact := means.meets(len(t.state.resources), t.columns)
	if !exact {
		return nil, false
	}
	set := planner.NewSet(len(met))
	for i, yes := range met {
		if yes {
			set.Add(i)
		}
	}
	t.sets[text] = set
	return set, true
}

// wishes returns the SQL of jobs that the database has to evaluate. It leaves out jobs that cannot start now.
func (t *translator) wishes(jobs []*waiting) (all []wish) {
	for _, w := range jobs {
		if t.later(w) {
			continue
		}
		for _, c := range w.choices {
			for _, g := range c.groups {
				one := wishOf(w, g)
				if _, known := t.knownResources(one.text); !known {
					all = append(all, one)
				}
			}
		}
	}
	return all
}

// later reports whether the types of a job forbid that it starts now.
func (t *translator) later(w *waiting) bool {
	kind, err := ReadTypes(slices.DeleteFunc(slices.Clone(w.types), isSidecarType))
	return err != nil || kind.Postpone > t.now || kind.expire > 0 && t.now > kind.expire
}

// level returns the column that a level of a request names.
func (t *translator) level(l level) (planner.Property, error) {
	of, known := t.properties[l.column]
	if !known {
		return nil, fmt.Errorf("%s is not a property of resources", core.Shown(l.column))
	}
	if l.count < planner.BestHalf || l.count == 0 {
		return nil, fmt.Errorf("%s=%d: the number of resources must be at least 1", l.column, l.count)
	}
	return of, nil
}

// Kinds is the meaning of a job's types for a scheduler.
type Kinds struct {
	besteffort                 bool
	Postpone, expire, deadline core.Time // 0 if there is none
}

// Unsupported lists the types that OAR's own schedulers support and this scheduler does not. It refuses jobs with such types, because it
// would otherwise run them in a way that the user did not intend.
var Unsupported = []string{"container", "inner", "timesharing", "placeholder", "allowed", "state"}

// `profile` matches the type of an evolving job. A number in the type selects the configuration. `launch` matches the
// type of a part of a delegated application.
var (
	profile = regexp.MustCompile(`^\s*ep[0-9]{0,3}\s*(=|$)`)
	launch  = regexp.MustCompile(`^\s*launch\s*(=|$)`)
)

func isProfile(kind string) bool { return profile.MatchString(kind) }

// isSidecarType reports whether the sidecar starts jobs of this type.
func isSidecarType(kind string) bool { return isProfile(kind) || launch.MatchString(kind) }

// ReadTypes parses a job's types. It ignores types that do not concern schedulers.
func ReadTypes(types []string) (Kinds, error) {
	var k Kinds
	for _, one := range types {
		name, value, _ := strings.Cut(one, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if slices.Contains(Unsupported, name) || isSidecarType(name) {
			return k, fmt.Errorf("the type %s is not honoured in this queue", core.Shown(name))
		}
		var err error
		switch name {
		case "besteffort":
			k.besteffort = true
		case "postpone":
			k.Postpone, err = parseTime(value)
		case "expire":
			k.expire, err = parseTime(value)
		case "deadline":
			k.deadline, err = parseTime(value)
		}
		if err != nil {
			return k, fmt.Errorf("type %s: %w", name, err)
		}
	}
	return k, nil
}

// parseTime parses a local time as OAR's users write it. OAR lets them omit the seconds, or the time of day.
func parseTime(text string) (core.Time, error) {
	joined := strings.Join(strings.Fields(text), " ")
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, joined, time.Local); err == nil {
			return at.Unix(), nil
		}
	}
	return 0, fmt.Errorf("%s is not a time: write YYYY-MM-DD HH:MM:SS", core.Shown(text))
}
