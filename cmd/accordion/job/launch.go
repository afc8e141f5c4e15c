package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/shim"
	"accordion/shim/launcher/application"
	"accordion/shim/launcher/selector"
)

func init() { forUsers = append(forUsers, Launch) }

// Launch returns the command "accordion launch".
func Launch() *cobra.Command {
	c := &cobra.Command{
		Use:   "launch --model MODEL [--on CLUSTER='sbatch …'] … [-- sbatch … JOB.SH]",
		Short: "Submit an application that chooses its own nodes, and wait until it has ended",
		Example: `  accordion launch --model '4x2h|8x70m' -- sbatch -p main job.sh
  accordion launch --model amdahl:p=0.99,t1=10h,nodes=1-256 --most 2h -- sbatch job.sh`,
		Long: `Submit an application instead of a job. The sidecar shows the launcher which nodes are free on every cluster, and until when. The
launcher requests the nodes that suit the application best, and updates its request when the view changes, until the application
starts. The command stays in the foreground, like srun.

    accordion launch --model '4x2h|8x70m' -- sbatch -p main job.sh
    accordion launch --model cem:work=460800,iterations=1000 \
        --on a='sbatch -p main job.sh' --on b='oarsub -q evolve ./job.sh'

The model says which nodes the application wants. Times are for a cluster of speed 1.

    4x2h|8x70m                            on one cluster: 4 nodes for two hours, or 8 for 70 minutes
    amdahl:p=0.99,t1=10h,nodes=1-256      on one cluster, by Amdahl's law
    downey:a=64,sigma=1,t1=10h,nodes=1-128
    cem:work=HOST-SECONDS,iterations=N    on several clusters at once, with one network wait per iteration
    exec:COMMAND                          a program that reads views and writes requests as JSON lines

The commands are split into words as in a shell, but nothing is expanded. Each command submits a held job: sbatch gets the options
--parsable -H --comment=launch=APPLICATION, and oarsub gets -t launch=APPLICATION. The sidecar sets the job's nodes and time limit at
its start, so you can leave them out. When the application starts, jobs on clusters that it does not use end.

If an application runs on several clusters at once, its script needs this line before the parts work together. Without it, no part
begins. See accordion part --help.

    eval "$(accordion part)" || exit

If the command after -- contains neither sbatch nor oarsub, it runs on this host while the application runs, with
ACCORDION_APPLICATION and ACCORDION_PARTS set. This is for clusters where the sidecar makes the parts itself.

Standard output has "application NUMBER", then "job NUMBER on CLUSTER" for each job. Standard error has a line when the estimated
start changes, when the application starts, and when a job is lost. The exit status is the first status of a part that is not 0, or

    1    refused, or ended by the sidecar
    2    the command line is wrong
    130  interrupted: the application is withdrawn, its jobs end

--application FILE:LINE is for experiments (docs/delegated.md, Figure 12). It runs the application in that line of a jobs file on
clusters where the sidecar makes the parts itself. The application does nothing for its run time. The last line of output shows the processor time
that the launcher used. Only --name and --connect can be combined with it.

If the sidecar is restarted, the launcher reconnects with the same request and rank. See also docs/launch.md.`,
	}
	model := c.Flags().String("model", "", "which nodes the application wants: a `MODEL` as above")
	name := c.Flags().String("name", "", "name of the application, at most 64 bytes")
	most := c.Flags().String("most", "", "the longest walltime to request, a `duration` such as 2h")
	on := c.Flags().StringArray("on", nil, "a cluster where it may run, `CLUSTER='COMMAND'`; may be repeated")
	connect := c.Flags().String("connect", "", "the sidecar's socket or `HOST:PORT` (default as for accordion step)")
	line := c.Flags().String("application", "", "for experiments: run the application in this line of a jobs file, `FILE:LINE`")
	c.Flags().SetInterspersed(false)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var o application.Options
		var err error
		used := func(io.Writer) {}
		switch {
		case *line == "":
			if o, err = launchOptions(*model, *name, *most); err == nil {
				err = o.Arrange(*on, args, o.Model.Several())
			}
		case *model != "" || *most != "" || len(*on)+len(args) > 0:
			err = errors.New("--application describes the whole application: only --name and --connect can be combined with it")
		default:
			o, used, err = lineOptions(*line, *name)
		}
		if err != nil {
			return command.Usage(fmt.Errorf("launch: %w", err))
		}
		o.Dial = shim.Dialer(connecting(*connect))
		o.Out, o.Err, o.Environ = cmd.OutOrStdout(), cmd.ErrOrStderr(), os.Environ()
		status := application.Run(cmd.Context(), o)
		used(o.Out)
		if status != 0 {
			return command.ExitError{Status: status}
		}
		return nil
	}
	return c
}

// mostName is the longest name of an application, in bytes.
const mostName = 64

func launchOptions(model, name, most string) (application.Options, error) {
	o := application.Options{Name: name}
	if model == "" {
		return o, errors.New("--model is missing: describe the application, such as --model '4x2h|8x70m'")
	}
	var err error
	if o.Model, err = selector.Parse(model); err != nil {
		return o, fmt.Errorf("--model: %w", err)
	}
	if len(name) > mostName {
		return o, fmt.Errorf("--name has %d bytes; at most %d are allowed", len(name), mostName)
	}
	if most != "" {
		d, ok := command.Duration(most)
		if !ok || d == 0 {
			return o, fmt.Errorf("--most: %s is not a duration above 0: write %s", core.Shown(most), core.DurationForms)
		}
		o.Most = d
	}
	return o, nil
}

// connecting returns an environment whose variables name the sidecar that the user gave.
func connecting(to string) shim.Getenv {
	if to == "" {
		return os.LookupEnv
	}
	socket, address := to, ""
	if !strings.Contains(to, "/") && strings.Contains(to, ":") {
		socket, address = "", to
	}
	return func(name string) (string, bool) {
		switch name {
		case "ACCORDION_SOCKET":
			return socket, socket != ""
		case "ACCORDION_ADDRESS":
			return address, address != ""
		}
		return os.LookupEnv(name)
	}
}
