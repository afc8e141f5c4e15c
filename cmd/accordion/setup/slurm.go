package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/config"
	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
	"accordion/slurm"
	"accordion/slurm/limits"
	"accordion/slurm/output"
	decided "accordion/slurm/setup"
)

// patience limits the calls to slurmctld.
const patience = time.Minute

// wished has the flags of "accordion setup slurm".
type wished struct {
	file                       command.Config
	partition, listen, address *string
	web, conf                  *string
	dry, all, remove           *bool
}

func slurmCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "slurm",
		Short: "Install the sidecar on slurmctld's host, or remove it",
		Long: `Install the sidecar on slurmctld's host. Run this command there as root. It

  - writes the sidecar's configuration
  - writes the plug-in job_submit.lua, with accordion.lua, next to slurm.conf
  - prints the lines that slurm.conf needs, and what each line does
  - checks the cluster like "accordion preflight", and returns its exit status

setup never changes slurm.conf, and never overwrites files that it did not write or that were changed since. On a terminal, it asks for
what the flags do not say. Run it again to repair its own files.

--dry-run changes nothing. --remove deletes the files that setup wrote, unless they were changed, and the reservations that the sidecar
left. Before that, stop the sidecar, and remove the plug-in from slurm.conf.`,
		Args: command.NoArguments,
	}
	w := wished{file: command.ConfigFlag(c),
		partition: c.Flags().String("partition", "", "the partition that the sidecar manages (default: the only one)"),
		listen:    c.Flags().String("listen", "", "address at which jobs on other hosts reach the sidecar, such as 0.0.0.0:6820; none if job scripts run only on this host (default: none)"),
		address:   c.Flags().String("address", "", "the address of --listen as seen from other hosts (default: this host's name and the same port)"),
		web:       webFlag(c),
		conf:      c.Flags().String("slurm-conf", os.Getenv("SLURM_CONF"), "the path of slurm.conf (default $SLURM_CONF, else where Slurm's programs find it)"),
		dry:       c.Flags().Bool("dry-run", false, "print what would be done, and change nothing"),
		all:       c.Flags().Bool("all", false, "with --dry-run: also print the text of each file, except the plug-in"),
		remove:    c.Flags().Bool("remove", false, "remove what setup has written")}
	c.RunE = func(cmd *cobra.Command, _ []string) error { return w.run(cmd) }
	return c
}

func (w wished) run(cmd *cobra.Command) error {
	mine, err := remembered(w.file.Path())
	if err != nil {
		return err
	}
	if *w.remove && len(mine.Files) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "setup has written nothing here")
		return nil
	}
	c, in, err := w.look(cmd.Context())
	if err != nil {
		return err
	}
	if *w.remove {
		return w.takeBack(cmd, mine, c)
	}
	wish, err := w.wish(cmd, in)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	all := decided.Files(c, wish)
	if err := mine.put(out, all, *w.dry); err != nil {
		return err
	}
	if *w.dry && *w.all {
		for _, f := range all[:len(all)-1] { // the last file is the plug-in
			fmt.Fprintf(out, "\n---- %s\n%s", f.Path, f.Text)
		}
	}
	w.tellLines(cmd, c, decided.Lines(c, in, wish.Partition))
	return w.preflight(cmd, all[0])
}

// webFlag adds the flag --web, for Slurm and OAR.
func webFlag(c *cobra.Command) *string {
	return c.Flags().String("web", "", "serve the live page at this address, such as 127.0.0.1:9821, or at this socket path (default: no page)")
}

// look reads slurmctld's settings.
func (w wished) look(ctx context.Context) (output.Configuration, output.Inventory, error) {
	// The partition does not matter for these calls.
	s, err := slurm.New(slurm.Config{Partitions: []string{"any"}, Conf: *w.conf})
	if err != nil {
		return nil, output.Inventory{}, err
	}
	defer s.Close()
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	c, err := s.Configuration(ctx)
	if err == nil && !filepath.IsAbs(c["SLURM_CONF"]) {
		err = fmt.Errorf("scontrol show config has no path of slurm.conf (SLURM_CONF=%q)", c["SLURM_CONF"])
	}
	if err == nil {
		if _, there := os.Stat(c["SLURM_CONF"]); there != nil {
			err = fmt.Errorf("%w: this is not slurmctld's host; run setup there", there)
		}
	}
	var in output.Inventory
	if err == nil {
		in, err = s.Inventory(ctx)
	}
	if err != nil {
		return nil, in, fmt.Errorf("setup slurm: %w", err)
	}
	return c, in, nil
}

// shortestStep returns the setting of the shortest step in an existing configuration, otherwise the default.
func shortestStep(path string) time.Duration {
	if conf, err := config.Load(path); err == nil {
		return conf.ShortestStep()
	}
	return config.Default().ShortestStep()
}

// wish returns what to set up, according to the flags and the user's answers.
func (w wished) wish(cmd *cobra.Command, in output.Inventory) (decided.Wish, error) {
	a := newAsker(cmd.InOrStdin(), cmd.OutOrStdout())
	wish := decided.Wish{Config: w.file.Path(), Conf: *w.conf, Plugin: slurm.Plugin, Partition: *w.partition, Listen: *w.listen, Address: *w.address, Web: *w.web}
	wish.ShortestStep = shortestStep(wish.Config)
	var names []string
	for _, p := range in.Partitions {
		names = append(names, p.Name)
	}
	var err error
	if wish.Partition == "" && len(names) == 1 {
		wish.Partition = names[0]
	} else if wish.Partition == "" && a.in != nil {
		if wish.Partition, err = a.ask("Whose nodes are to be managed, of the partitions "+strings.Join(names, ", ")+"?", names[0]); err != nil {
			return wish, err
		}
	}
	if !slices.Contains(names, wish.Partition) {
		return wish, command.Usage(fmt.Errorf("setup slurm: --partition %s: use one of %s", cmp.Or(wish.Partition, "is not given"), strings.Join(names, ", ")))
	}
	if wish.Listen == "" {
		if wish.Listen, err = a.ask("Where do jobs on other hosts reach the sidecar (such as 0.0.0.0:6820; munge has to run there)?", "none"); err != nil {
			return wish, err
		}
	}
	if wish.Listen == "none" {
		wish.Listen = ""
		return wish, nil
	}
	_, port, err := net.SplitHostPort(wish.Listen)
	if err != nil {
		return wish, command.Usage(fmt.Errorf("setup slurm: --listen %s: want an address and a port, such as 0.0.0.0:6820, or none", wish.Listen))
	}
	if wish.Address == "" {
		host, err := os.Hostname()
		if err != nil {
			return wish, fmt.Errorf("read this host's name for --address: %w", err)
		}
		wish.Address = net.JoinHostPort(host, port)
	}
	return wish, nil
}

// tellLines prints what the administrator has to do.
func (w wished) tellLines(cmd *cobra.Command, c output.Configuration, lines []decided.Line) {
	out := cmd.OutOrStdout()
	if len(lines) == 0 {
		fmt.Fprintf(out, "\n%s has all lines that it needs.\n", c["SLURM_CONF"])
	} else {
		fmt.Fprintf(out, "\nSet these in %s, each in the place of a line for the same key, then: scontrol reconfigure\n", c["SLURM_CONF"])
		for _, l := range lines {
			fmt.Fprintf(out, "\n    %s\n        %s\n", l.Text, l.What)
		}
	}
	fmt.Fprint(out, "\nWhen preflight has nothing against it (it follows, and can be asked again: accordion preflight): systemctl enable --now accordion.service\n\n")
}

// preflight checks the cluster with the existing configuration, or with the configuration that setup would write.
func (w wished) preflight(cmd *cobra.Command, conf decided.File) error {
	if _, err := os.Stat(conf.Path); err == nil {
		return preflight(cmd, conf.Path)
	}
	folder, err := os.MkdirTemp("", "accordion-setup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, filepath.Base(conf.Path))
	if err := os.WriteFile(path, []byte(conf.Text), 0o600); err != nil {
		return err
	}
	return preflight(cmd, path)
}

// takeBack removes what setup has written. As long as slurmctld reads the plug-in, the plug-in stays, because
// slurmctld would refuse every job without it.
func (w wished) takeBack(cmd *cobra.Command, mine own, c output.Configuration) error {
	plugin := filepath.Join(decided.Folder(c), "job_submit.lua")
	if decided.Reads(c) && slices.ContainsFunc(mine.Files, func(f written) bool { return f.Path == plugin }) && !*w.dry {
		return errors.New("nothing was removed: slurmctld reads " + plugin + ", and would refuse every job without it. Stop accordion.service, take lua out of JobSubmitPlugins= in " +
			c["SLURM_CONF"] + ", then: scontrol reconfigure, and this again")
	}
	if err := w.forsake(cmd); err != nil {
		return err
	}
	if !*w.dry {
		if err := removeGenerated(cmd.OutOrStdout(), decided.Generated(c)); err != nil {
			return err
		}
	}
	return mine.remove(cmd.OutOrStdout(), *w.dry)
}

// removeGenerated removes the files that the sidecar has written for the plug-in. It keeps a file at one of these paths if the sidecar did
// not write it.
func removeGenerated(out io.Writer, paths []string) error {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && limits.IsOurs(string(text)) {
			err = os.Remove(path)
			fmt.Fprintf(out, "removed %s\n", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forsake deletes what the sidecar left in Slurm. If its configuration does not exist or cannot be read, the
// administrator has to do that.
func (w wished) forsake(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	conf, err := w.file.Load()
	if err != nil || *w.dry {
		fmt.Fprintln(out, "left    reservations of the sidecar, if there are any: scontrol -o show reservations | grep ReservationName=accordion-")
		return nil
	}
	for _, one := range conf.All {
		did, err := cluster.Forsake(cmd.Context(), one.Config)
		for _, line := range did {
			fmt.Fprintln(out, line)
		}
		if err != nil {
			return fmt.Errorf("setup slurm --remove: no file was removed: %w", err)
		}
	}
	return nil
}
