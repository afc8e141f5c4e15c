package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/slurm/cluster"
	"accordion/slurm/output"
)

// CheckManage reports which jobs of the pool the sidecar starts, and whether the plug-in's settings agree. If `all`
// is true, the sidecar starts every job of the pool's partitions.
func CheckManage(c output.Configuration, in output.Inventory, pool []string, all bool) []adapter.Finding {
	names := strings.Join(pool, ", ")
	if !all {
		found := []adapter.Finding{{Severity: adapter.Note, What: fmt.Sprintf(`manage = "told": of partition %s the jobs that say that they are evolving or moldable are `+
			"the sidecar's, and all others are Slurm's", names)}}
		if site, err := siteFile(c); err == nil && managesAll(site) {
			found = append(found, adapter.Finding{Severity: adapter.Warning, What: `accordion.lua says manage = "all", and the sidecar's configuration "told": rigid jobs wait ` +
				"for the sidecar and are let in, but are not taken again once Slurm has them", Fix: "Say the same in both"})
		}
		return found
	}
	found := []adapter.Finding{{Severity: adapter.Note, What: fmt.Sprintf(`manage = "all": every job of partition %s is planned, and rigid ones wait until the sidecar lets them in; `+
		"run `accordion release-all` every 30 s, which gives them back to Slurm when no sidecar lives", names)}}
	script, err := cluster.SubmitScript(c)
	site, unread := siteFile(c)
	switch {
	case err != nil || unread != nil && !errors.Is(unread, fs.ErrNotExist):
		found = append(found, adapter.Finding{Severity: adapter.Note, What: `whether slurmctld's accordion.lua says manage = "all", too, cannot be seen from here`})
	case !strings.Contains(script, plansAll) || !managesAll(site):
		found = append(found, adapter.Finding{Severity: adapter.Fatal, What: `manage = "all" needs the plug-in, which has to keep jobs for the sidecar, and does not: ` +
			"Slurm starts them", Fix: `Put this Accordion's job_submit.lua next to slurm.conf, and manage = "all" into accordion.lua there`})
	}
	return append(found, neighbors(in, pool)...)
}

// neighbors reports other partitions whose jobs may take nodes of the pool. Slurm's backfill scheduler does not
// reserve nodes for jobs that wait at the gate.
func neighbors(in output.Inventory, pool []string) []adapter.Finding {
	nodes, err := output.PoolNodes(in, pool)
	if err != nil {
		return nil // checkPool reports this error
	}
	var found []adapter.Finding
	for _, p := range in.Partitions {
		if !slices.Contains(pool, p.Name) && len(hostlist.Within(p.Nodes, nodes)) > 0 {
			found = append(found, adapter.Finding{Severity: adapter.Warning, What: fmt.Sprintf("partition %s has nodes of the pool too: Slurm starts its jobs without looking at "+
				"rigid ones that wait for the sidecar", p.Name), Fix: `Give the pool its nodes for itself, or say manage = "told"`})
		}
	}
	return found
}

// plansAll is a text that occurs in every job_submit.lua that supports manage = "all".
const plansAll = `site.manage ~= "all"`

var allLine = regexp.MustCompile(`(?m)^[^\n]*\bmanage\s*=\s*["']all["']`)

// managesAll reports whether the text of an accordion.lua sets manage = "all". It does not run the text.
func managesAll(site string) bool {
	line := allLine.FindString(site)
	return line != "" && !strings.Contains(line, "--")
}

// siteFile returns the text of accordion.lua in the folder of slurmctld's job_submit.lua, which exists only on
// slurmctld's host.
func siteFile(c output.Configuration) (string, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c["SLURM_CONF"]), "accordion.lua"))
	return string(text), err
}
