package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	hooked "accordion/cmd/accordion/oar"
	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/history"
	"accordion/traces/advise"
)

// fromOAR asks OAR's database.
func fromOAR(cmd *cobra.Command, f *flags, since core.Time) (*heard, error) {
	c, err := conf.Read(hooked.File(""))
	if err != nil {
		return nil, fmt.Errorf("asking OAR's database: %w", err)
	}
	db, err := database.Open(c)
	if err != nil {
		return nil, fmt.Errorf("asking OAR's database: %w", err)
	}
	defer db.Close()
	until := time.Now().Unix() + 1
	h := &heard{from: until - since, until: until, oar: true}
	runs, left, err := history.Read(cmd.Context(), db, history.Span{From: h.from, Until: until})
	if err != nil {
		return nil, interrupted(fmt.Errorf("asking OAR's database: %w", err))
	}
	if f.user != "" {
		runs = slices.DeleteFunc(runs, func(r advise.Run) bool { return r.User != f.user })
	}
	h.runs, h.also = runs, left.String()
	return h, nil
}

// inOAR writes the sizes of a report as OAR takes them: each is a request, as -l.
func inOAR(report *advise.Report) {
	for i := range report.Sizes {
		s := &report.Sizes[i]
		var requests []string
		for _, c := range s.Choices() {
			d := c[0].Duration
			requests = append(requests, fmt.Sprintf("-l nodes=%d,walltime=%d:%02d:%02d", c[0].Nodes, d/3600, d/60%60, d%60))
		}
		s.Line = "oarsub " + strings.Join(requests, " ")
	}
}
