package advise

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	hooked "accordion/cmd/accordion/oar"
	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/history"
	"accordion/traces/advise"
	"accordion/traces/advise/render"
)

// fromOAR reads OAR's database.
func fromOAR(cmd *cobra.Command, f *flags, since core.Time) (*readRuns, error) {
	c, err := conf.Read(hooked.File(""))
	if err != nil {
		return nil, fmt.Errorf("read OAR's database: %w", err)
	}
	db, err := database.Open(c)
	if err != nil {
		return nil, fmt.Errorf("read OAR's database: %w", err)
	}
	defer db.Close()
	until := time.Now().Unix() + 1
	r := &readRuns{Input: render.Input{From: until - since, Until: until, Source: render.OAR}}
	runs, left, err := history.Read(cmd.Context(), db, history.Span{From: r.From, Until: until})
	if err != nil {
		return nil, interrupted(fmt.Errorf("read OAR's database: %w", err))
	}
	if f.user != "" {
		runs = slices.DeleteFunc(runs, func(r advise.Run) bool { return r.User != f.user })
	}
	r.Runs = runs
	if text := left.String(); text != "" {
		r.LeftOutText = append(r.LeftOutText, text)
	}
	return r, nil
}
