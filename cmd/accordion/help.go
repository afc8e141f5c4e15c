package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// alsoCalled lists words that users type for a command and that are not similar to its name.
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

// examples has at least two command lines for each command whose own help has none.
var examples = map[string]string{
	"": `
  accordion ep check 2x20m,5x1h                      is this profile correct?
  accordion explain 4711                             why does my job wait?
  accordion compare LOG.swf --evolving 30%           what would my cluster gain?
  accordion help policies`,
	"advise": `
  accordion advise --since 90d       which jobs of the last 90 days would gain from a profile?
  accordion advise --from accounting.txt -o advice.html`,
	"agent": `
  accordion agent n7 hostname
  accordion agent n7 ./solve input.dat`,
	"audit": `
  accordion audit
  accordion audit --json`,
	"compare": `
  accordion compare LOG.swf --evolving 30%
  accordion compare LOG.swf --policy easy,patient --shares 0%,10%,30% --seeds 5`,
	"completion": `
  accordion completion bash >/etc/bash_completion.d/accordion
  accordion completion zsh >_accordion`,
	"completion bash": `
  accordion completion bash >/etc/bash_completion.d/accordion
  source <(accordion completion bash)`,
	"completion fish": `
  accordion completion fish >~/.config/fish/completions/accordion.fish
  accordion completion fish | source`,
	"completion powershell": `
  accordion completion powershell >accordion.ps1
  accordion completion powershell | Out-String | Invoke-Expression`,
	"completion zsh": `
  accordion completion zsh >_accordion
  source <(accordion completion zsh)`,
	"config": `
  accordion config example >/etc/accordion/accordion.toml
  accordion config check`,
	"config check": `
  accordion config check
  accordion config check --config new.toml`,
	"config example": `
  accordion config example >accordion.toml
  accordion config example --several`,
	"demo": `
  accordion demo
  accordion demo --speed 300 -o demo.html`,
	"ep": `
  accordion ep check 5x500s,10x1h
  accordion ep check job.sh`,
	"ep check": `
  accordion ep check 5x500s,10x1h --nodes 64
  accordion ep check '2x1h,8x1h|4x40m,16x40m'
  accordion ep check job.sh`,
	"explain": `
  accordion explain 4711
  accordion explain --application 7`,
	"gantt": `
  accordion gantt accounting.txt -o week.html
  accordion gantt accounting.txt --nodes n[1-16] --title "Last week"`,
	"help": `
  accordion help explain
  accordion help policies`,
	"journal": `
  accordion journal --since 1h
  accordion journal --job 4711 --follow`,
	"limits": `
  accordion limits reset ann
  accordion limits reset ann --cluster b`,
	"man": `
  accordion man /usr/local/share/man/man1
  accordion man one`,
	"nodes": `
  eval "$(accordion nodes)"
  accordion nodes --file`,
	"oar": `
  accordion oar install
  accordion oar uninstall`,
	"oar epilogue": `
  accordion oar epilogue 4711
  accordion oar epilogue --help`,
	"oar prologue": `
  accordion oar prologue 4711 ann /tmp/nodefile
  accordion oar prologue --help`,
	"oar install": `
  accordion oar install
  accordion oar install --queue evolve --epilogue`,
	"oar schedule": `
  accordion oar schedule evolve 1795694400
  accordion oar schedule --deadline 10s evolve 1795694400`,
	"oar uninstall": `
  accordion oar uninstall
  accordion oar uninstall --queue evolve`,
	"paper": `
  accordion paper evolving
  accordion paper adaptive claims`,
	"paper adaptive": `
  accordion paper adaptive fig8 --seeds 1
  accordion paper adaptive -o figures`,
	"paper evolving": `
  accordion paper evolving
  accordion paper evolving --tests 100 --search`,
	"preflight": `
  accordion preflight
  accordion preflight --try --as ann`,
	"queue": `
  accordion queue
  accordion queue --user ann`,
	"replay": `
  accordion replay LOG.swf --policy patient --evolving 30% -o results
  accordion replay LOG.swf --csv - >jobs.csv`,
	"run": `
  accordion run ./solve
  accordion run -n 64 ./solve input.dat`,
	"schedule": `
  accordion schedule applications.json
  accordion schedule applications.json --algorithm 2X+opt --order search`,
	"serve": `
  accordion serve
  accordion serve --config /etc/accordion/accordion.toml`,
	"setup": `
  accordion setup slurm --partition pilot
  accordion setup oar`,
	"setup oar": `
  accordion setup oar --dry-run
  accordion setup oar --queue evolve`,
	"setup slurm": `
  accordion setup slurm --partition pilot --dry-run
  accordion setup slurm --partition pilot --listen 0.0.0.0:6820`,
	"status": `
  accordion status
  accordion status --json`,
	"trace": `
  accordion trace info LOG.swf
  accordion trace cut LOG.swf --from 7d --to 14d -o week.swf`,
	"trace check": `
  accordion trace check LOG.swf
  accordion trace check --nodes 128 LOG.swf`,
	"trace convert": `
  accordion trace convert LOG.swf -o log.swf.gz
  accordion trace convert LOG.swf --sort --rezero --renumber -o log.swf`,
	"trace cut": `
  accordion trace cut LOG.swf --from 7d --to 14d -o week.swf
  accordion trace cut LOG.swf --skip 1000 --jobs 500 -o some.swf`,
	"trace filter": `
  accordion trace filter LOG.swf --min-size 16 --status completed -o wide.swf
  accordion trace filter LOG.swf --user 3,17 --invert -o others.swf`,
	"trace from-sacct": `
  accordion trace from-sacct accounting.txt --machine 9216 -o site.swf.gz
  accordion trace from-sacct accounting.txt --zone Europe/Paris -o site.swf`,
	"trace generate": `
  accordion trace generate --jobs 1000 -o random.swf
  accordion trace generate --model lublin --nodes 256 -o lublin.swf`,
	"trace info": `
  accordion trace info LOG.swf
  accordion trace info --json LOG.swf OTHER.swf`,
	"trace statistics": `
  accordion trace statistics LOG.swf -o arrivals.json
  accordion trace statistics LOG.swf --window 0..30d -o arrivals.json`,
	"version": `
  accordion version
  accordion version --help`,
	"watch": `
  accordion watch
  accordion watch --every 5s --column 1m`,
}

// addHelp adds suggestions, help and examples to all commands.
func addHelp(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.SuggestFor = alsoCalled[c.Name()]
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	addExamples(root)
}

// addExamples adds the examples to a command and to all commands below it.
func addExamples(c *cobra.Command) {
	path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
	if c.Example == "" {
		c.Example = strings.TrimPrefix(examples[path], "\n")
	}
	for _, sub := range c.Commands() {
		addExamples(sub)
	}
}
