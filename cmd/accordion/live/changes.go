package live

import (
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// changes returns a line for each change of a job since the last snapshot.
func (s *Screen) changes(now *adapter.Snapshot) []string {
	before := map[adapter.Key]adapter.Job{}
	if s.last != nil {
		for _, j := range s.last.Jobs {
			before[j.Key] = j
		}
	}
	var news []string
	tell := func(j adapter.Job, format string, args ...any) {
		news = append(news, fmt.Sprintf("%8s  job %-3d %-10s %s", s.clock(now.At), j.ID, clip(j.Name, 10), fmt.Sprintf(format, args...)))
	}
	for _, j := range now.Jobs {
		if j.Expands != 0 {
			continue
		}
		s.names[j.Key] = j.Name
		was, known := before[j.Key]
		delete(before, j.Key)
		if !known {
			tell(j, "submitted: %s", asked(j))
		}
		switch {
		case j.State == adapter.Running && was.State != adapter.Running:
			tell(j, "starts on %d: %s", len(j.Nodes), hostlist.Compact(j.Nodes))
		case j.State == adapter.Running && len(j.Nodes) > len(was.Nodes):
			tell(j, "grows %d → %d: %s", len(was.Nodes), len(j.Nodes), hostlist.Compact(j.Nodes))
		case j.State == adapter.Running && len(j.Nodes) < len(was.Nodes):
			tell(j, "shrinks %d → %d: %s", len(was.Nodes), len(j.Nodes), hostlist.Compact(j.Nodes))
		case over(j.State) && known && !over(was.State):
			tell(j, "ends")
		}
	}
	if s.last != nil {
		for _, j := range s.last.Jobs {
			if _, gone := before[j.Key]; gone && j.Expands == 0 && !over(j.State) {
				tell(j, "ends")
			}
		}
	}
	return news
}

func over(state adapter.State) bool { return state == adapter.Ending || state == adapter.Done }

// asked describes what a job requests, in a few words.
func asked(j adapter.Job) string {
	if request := request(j); request != "" {
		return request
	}
	if j.Limit >= core.Forever {
		return fmt.Sprintf("%d nodes, no limit", j.Want)
	}
	return fmt.Sprintf("%d nodes for %s", j.Want, core.FormatDuration(j.Limit))
}

// request returns the request in a managed job's mark, or "".
func request(j adapter.Job) string {
	if r, ok := strings.CutPrefix(j.Mark, adapter.MarkPrefix); ok {
		return r
	}
	return ""
}

// clock formats the time since the beginning, such as 0:00, 12:40 or 1:02:40.
func (s *Screen) clock(t time.Time) string {
	d := max(0, t.Sub(s.options.Begin)) / time.Second
	if d >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", d/3600, d/60%60, d%60)
	}
	return fmt.Sprintf("%d:%02d", d/60, d%60)
}

// clip shortens a text to a number of characters and makes it printable, because users choose the names of jobs.
func clip(text string, width int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == width-1 && len([]rune(text)) > width {
			b.WriteRune('…')
			break
		}
		if n == width {
			break
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			r = '?'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
