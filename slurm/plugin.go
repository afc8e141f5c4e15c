package slurm

import _ "embed" // the plug-in

// Plugin is the text of job_submit.lua, which slurmctld reads from the folder of slurm.conf.
//
//go:embed job_submit.lua
var Plugin string
