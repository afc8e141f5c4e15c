package status

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"accordion/adapter/view"
	"accordion/core"
)

// UsageReport is what `accordion queue --usage --json` prints. It has, for each user and account, the node-seconds that jobs used, and the
// node-seconds that were reserved ahead for jobs but not used. The counts are those of the Unix second Read.
type UsageReport struct {
	Sidecar Sidecar    `json:"sidecar"`
	Read    core.Time  `json:"read"`
	Cluster string     `json:"cluster"`
	Usage   view.Usage `json:"usage"`
	Over    []string   `json:"over"` // users for whose jobs no later steps are reserved ahead
}

// OfUsage returns the usage at the Unix second r.Read.
func (r QueueReport) OfUsage() UsageReport {
	u := UsageReport{Sidecar: r.Sidecar, Read: r.Read, Cluster: r.Cluster, Usage: view.Usage{Users: []view.UserUsage{}}, Over: []string{}}
	if r.Usage == nil {
		return u
	}
	u.Usage.HalfLife, u.Usage.Limit = r.Usage.HalfLife, r.Usage.Limit
	for _, one := range r.Usage.Users {
		u.Usage.Users = append(u.Usage.Users, r.Usage.Decayed(one, r.Read))
	}
	u.Over = append(u.Over, u.Usage.UsersOver(r.Read)...)
	return u
}

// Table writes the usage as text: a line about the limit, and then one line for each user and account.
func (r UsageReport) Table(w io.Writer, now time.Time, zone *time.Location) error {
	p := page{now: now.In(zone), zone: zone}
	var b strings.Builder
	what := "no limit on what is left unused"
	if r.Usage.Limit > 0 {
		what = fmt.Sprintf("limit on what is left unused: %.1f node-hours, and more than was used", float64(r.Usage.Limit)/3600)
	}
	b.WriteString(p.headline(r.Sidecar, r.Read, r.Cluster, what) + "\n")
	if len(r.Usage.Users) > 0 {
		t := plain("USER", "ACCOUNT", "USED", "UNUSED", "LATER STEPS")
		for _, u := range r.Usage.Users {
			steps := "reserved ahead"
			for _, over := range r.Over {
				if over == u.User {
					steps = "planned only"
				}
			}
			t.AppendRow(table.Row{clean(u.User), dash(clean(u.Account)), fmt.Sprintf("%.1f h", u.Used/3600), fmt.Sprintf("%.1f h", u.Unused/3600), steps})
		}
		b.WriteString(t.Render() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
