package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// alsoCalled are words that users type for a command and that are not near its name.
var alsoCalled = map[string][]string{
	"advise":      {"whatif", "what-if", "recommend"},
	"compare":     {"cmp", "diff"},
	"config":      {"configuration", "settings"},
	"demo":        {"example", "try"},
	"ep":          {"profile", "profiles", "check"},
	"explain":     {"why", "reason"},
	"gantt":       {"plot", "draw"},
	"journal":     {"log", "logs", "history", "events"},
	"launch":      {"submit"},
	"preflight":   {"doctor", "verify"},
	"queue":       {"squeue", "waiting"},
	"release-all": {"uninstall", "cleanup"},
	"replay":      {"simulate", "sim"},
	"serve":       {"start", "daemon", "server", "sidecar"},
	"setup":       {"init"},
	"status":      {"jobs", "list", "ps", "show"},
	"trace":       {"swf"},
	"watch":       {"top", "monitor"},
}

// addHelp gives the commands of the program what their help has in common.
func addHelp(root *cobra.Command) {
	for _, c := range root.Commands() {
		name, _, _ := strings.Cut(c.Use, " ")
		c.SuggestFor = alsoCalled[name]
	}
}
