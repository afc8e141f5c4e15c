package main

import "accordion/cmd/accordion/job"

func init() {
	launcherCommands["users"] = append(launcherCommands["users"], job.Launch)
	launcherCommands["job scripts"] = append(launcherCommands["job scripts"], job.Part)
}
