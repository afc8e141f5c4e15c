package live

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// picture draws on a terminal of a given size.
type picture struct {
	width, height int
	colour        bool
}

// newPicture returns a picture of the given size. It has colors unless NO_COLOR is set.
func newPicture(width, height int) *picture {
	return &picture{width: width, height: height, colour: os.Getenv("NO_COLOR") == ""}
}

// hold is the state of one node in one column: the job that holds the node, or no job.
type hold struct {
	job     core.JobID
	managed bool
	shared  bool // other jobs hold the node, too
	down    bool
}

// `vivid` lists colors for managed jobs, as numbers of the terminal's 256 colors. Neighbors in the list differ
// clearly. `greys` lists shades for ordinary jobs.
var (
	vivid  = []int{33, 208, 135, 203, 37, 178, 99, 169, 70, 39, 173, 141}
	greys  = []int{245, 241, 248, 243, 250}
	white  = 231 // color of nodes that several jobs share
	letter = []rune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
)

func (h hold) colour() int {
	switch {
	case h.down:
		return 52
	case h.job == 0:
		return 0
	case h.shared:
		return white
	case h.managed:
		return vivid[int(h.job)%len(vivid)]
	}
	return greys[int(h.job)%len(greys)]
}

// record adds the present state of each node to the columns.
func (s *Screen) record(now *adapter.Snapshot) {
	index := make(map[string]int, len(now.Nodes))
	column := make([]hold, len(now.Nodes))
	for i, n := range now.Nodes {
		index[n.Name] = i
		column[i].down = !n.Usable
	}
	managed := map[core.JobID]bool{}
	for _, j := range now.Jobs {
		managed[j.ID] = request(j) != ""
	}
	for _, j := range now.Jobs {
		id := j.ID
		if j.Expands != 0 {
			id = j.Expands
		}
		for _, n := range j.Nodes {
			if i, known := index[n]; known {
				others := column[i].job != 0 && column[i].job != id
				column[i] = hold{job: id, managed: managed[id], shared: others || column[i].shared}
			}
		}
	}
	at := max(s.first+len(s.columns)-1, int(now.At.Sub(s.options.Begin)/s.options.Column), 0)
	if at-s.first >= 2*memory { // drop columns that no terminal is wide enough to show
		if drop := at - s.first - memory; drop < len(s.columns) {
			s.columns, s.first = slices.Clone(s.columns[drop:]), s.first+drop
		} else {
			s.columns, s.first = nil, at
		}
	}
	for s.first+len(s.columns) <= at {
		var before []hold
		if last := len(s.columns) - 1; last >= 0 {
			before = s.columns[last]
		}
		s.columns = append(s.columns, before)
	}
	s.columns[at-s.first] = column
}

// memory is the smallest number of columns that are kept.
const memory = 1024

// draw returns the whole picture as lines, no wider or higher than the terminal.
func (s *Screen) draw(now *adapter.Snapshot, view view.Status) []string {
	free := s.picture.height - 1
	lines := []string{s.headline(now), ""}
	lines = append(lines, s.nodesOverTime(now, max(2, free-12))...)
	lines = append(lines, "")
	lines = append(lines, s.running(now, view, max(1, (free-len(lines)-4)*2/3))...)
	lines = append(lines, s.waiting(now, view, max(1, free-len(lines)-4))...)
	for _, n := range s.news[max(0, len(s.news)-2):] {
		lines = append(lines, s.dim(n))
	}
	return lines[:min(len(lines), free)]
}

func (s *Screen) headline(now *adapter.Snapshot) string {
	idle := 0
	for _, n := range now.Nodes {
		if n.Idle && n.Usable {
			idle++
		}
	}
	line := fmt.Sprintf("%s   %s   %d of %d nodes busy", s.options.Title, s.clock(now.At), len(now.Nodes)-idle, len(now.Nodes))
	if n := s.shared(); n > 0 {
		sign := "+"
		if s.picture.colour {
			sign = "white"
		}
		line += fmt.Sprintf(", %d shared by jobs (%s)", n, sign)
	}
	if s.picture.colour {
		return "\x1b[1m" + clip(line, s.picture.width) + "\x1b[0m"
	}
	return clip(line, s.picture.width)
}

// shared returns the number of nodes that several jobs have now.
func (s *Screen) shared() (n int) {
	if last := len(s.columns) - 1; last >= 0 {
		for _, h := range s.columns[last] {
			if h.shared {
				n++
			}
		}
	}
	return n
}

// nodesOverTime draws the nodes over time. With colors, each line shows two nodes; without colors, one.
func (s *Screen) nodesOverTime(now *adapter.Snapshot, height int) []string {
	const label = 8
	columns := s.columns[max(0, len(s.columns)-(s.picture.width-label-1)):]
	step := 1
	if s.picture.colour {
		step = 2
	}
	var lines []string
	for i := 0; i < len(now.Nodes); i += step {
		if len(lines) == height {
			lines[height-1] = s.dim(fmt.Sprintf("… %d more nodes", len(now.Nodes)-i+step))
			break
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%*s ", label-1, clip(now.Nodes[i].Name, label-1))
		for _, c := range columns {
			if !s.picture.colour {
				b.WriteRune(nodeOf(c, i).sign())
				continue
			}
			b.WriteString(halves(nodeOf(c, i).colour(), nodeOf(c, i+1).colour()))
		}
		lines = append(lines, b.String())
	}
	return lines
}

// nodeOf returns the state of the i-th node in a column, or an empty hold if the node did not exist.
func nodeOf(column []hold, i int) hold {
	if i < len(column) {
		return column[i]
	}
	return hold{}
}

func (h hold) sign() rune {
	switch {
	case h.down:
		return '!'
	case h.job == 0:
		return '.'
	case h.shared:
		return '+'
	}
	return letter[int(h.job)%len(letter)]
}

// halves draws two nodes in one character: the upper half in one color, the lower in the other. 0 is no color.
func halves(upper, lower int) string {
	switch {
	case upper == 0 && lower == 0:
		return "\x1b[0m "
	case lower == 0:
		return "\x1b[0;38;5;" + strconv.Itoa(upper) + "m▀"
	case upper == 0:
		return "\x1b[0;38;5;" + strconv.Itoa(lower) + "m▄"
	}
	return "\x1b[38;5;" + strconv.Itoa(upper) + ";48;5;" + strconv.Itoa(lower) + "m▀"
}

// swatch returns the mark of a job in the lists. The mark has the job's color in the picture.
func (s *Screen) swatch(j adapter.Job) string {
	h := hold{job: j.ID, managed: request(j) != ""}
	if !s.picture.colour {
		return string(h.sign())
	}
	return "\x1b[38;5;" + strconv.Itoa(h.colour()) + "m█\x1b[0m"
}

func (s *Screen) dim(text string) string {
	text = clip(text, s.picture.width-1)
	if !s.picture.colour {
		return text
	}
	return "\x1b[2m" + text + "\x1b[0m"
}

// running lists the running jobs, managed ones first.
func (s *Screen) running(now *adapter.Snapshot, shown view.Status, room int) []string {
	var managed, ordinary []string
	for _, j := range now.Jobs {
		if j.State != adapter.Running || j.Expands != 0 {
			continue
		}
		about := fmt.Sprintf("%4d %-10s %3d nodes  %s", j.ID, clip(j.Name, 10), len(j.Nodes), clip(hostlist.Compact(j.Nodes), 18))
		i := slices.IndexFunc(shown.Jobs, func(v view.Job) bool { return v.ID == j.ID && v.Submitted == j.Submitted })
		if i < 0 || request(j) == "" {
			ordinary = append(ordinary, s.swatch(j)+" "+clip(about, s.picture.width-3))
			continue
		}
		v := shown.Jobs[i]
		line := fmt.Sprintf("%-52s step %d of %d  %-9s %s", about, v.Step, v.Steps, v.Phase, v.Request)
		managed = append(managed, s.swatch(j)+" "+clip(line, s.picture.width-3))
	}
	return s.list(append(managed, ordinary...), room)
}

// waiting lists the queue in rank order.
func (s *Screen) waiting(now *adapter.Snapshot, view view.Status, room int) []string {
	var lines []string
	for _, j := range now.Jobs {
		if j.State != adapter.Pending {
			continue
		}
		when := j.Why
		for _, v := range view.Jobs {
			if v.ID == j.ID && v.Submitted == j.Submitted && v.Start > 0 {
				when = "planned for " + s.clock(time.Unix(v.Start, 0))
			}
		}
		lines = append(lines, s.swatch(j)+" "+clip(fmt.Sprintf("%4d %-10s waits      %-34s %s", j.ID, clip(j.Name, 10), clip(asked(j), 34), when), s.picture.width-3))
	}
	return s.list(lines, room)
}

func (s *Screen) list(lines []string, room int) []string {
	if len(lines) > room {
		hidden := len(lines) - room + 1
		lines = append(lines[:room-1], s.dim(fmt.Sprintf("       … and %d more", hidden)))
	}
	return lines
}
