package launch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"accordion/shim/srun"
)

// impossible contains the options that cannot work on several allocations, with the reasons.
var impossible = map[string]string{
	"async":           "it returns before the program ends, so nothing waits for the other steps",
	"bcast":           "it copies the program that srun starts itself: copy it with sbcast, in each allocation",
	"gpus":            "it counts the GPUs of one step: say --gpus-per-node or --gpus-per-task",
	"het-group":       "it names parts of a heterogeneous job, which this is not",
	"jobid":           "it names one allocation: use srun --jobid for that",
	"multi-prog":      "its file counts the tasks of one step: start each program with an accordion run of its own, -w NODES",
	"no-allocate":     "it is for steps without an allocation",
	"ntasks-per-gpu":  "it counts by the GPUs of one step: say --ntasks-per-node",
	"ntasks-per-tres": "it counts by the GPUs of one step: say --ntasks-per-node",
	"preserve-env":    "the numbers of tasks and nodes in the environment are of one allocation",
	"pty":             "a terminal belongs to one step: use srun --pty for one allocation",
}

// spanning is the reason why srun's own way to start MPI programs (--mpi) is refused.
const spanning = "the ranks that srun connects are those of one step: start MPI programs with mpiexec or mpirun, which reach all allocations here"

// refuse returns an error for a command line that cannot work on several allocations.
func refuse(w World, line srun.Line) error {
	for _, o := range line.Options {
		why := impossible[o.Name]
		switch {
		case o.Name == "mpi" && o.Value != "none":
			why = spanning
		case o.Name == "distribution" && strings.HasPrefix(o.Value, "arbitrary"):
			why = "the list of hosts that it goes by is of one step"
		}
		if why != "" {
			return fmt.Errorf("%s cannot work over %d allocations: %s", o, len(w.Allocations), why)
		}
	}
	if len(line.Program) == 0 {
		return errors.New("which program? Write: accordion run [options of srun] -- PROGRAM ARGUMENTS")
	}
	if slices.Contains(line.Program, ":") {
		return errors.New("a word \":\" begins a second program for srun, with another allocation of a heterogeneous job: put the program into a script")
	}
	return nil
}

// IsQuery reports whether a command line only asks srun for information, as --version does.
func IsQuery(line srun.Line) bool {
	return slices.ContainsFunc(line.Options, func(o srun.Option) bool {
		switch o.Name {
		case "version", "usage", "help", "autocomplete":
			return true
		}
		return o.Name == "mpi" && o.Value == "list" || o.Value == "help"
	})
}
