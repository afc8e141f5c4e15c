package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/config"
	"accordion/adapter/journal"
	"accordion/adapter/readers"
	"accordion/adapter/status"
)

// Clusters are the flags --config and --cluster.
type Clusters struct {
	file Config
	name *string
}

// ClustersFlag adds --config and --cluster to a command.
func ClustersFlag(cmd *cobra.Command) Clusters {
	c := Clusters{ConfigFlag(cmd), cmd.Flags().String("cluster", "", "only this cluster, if the configuration lists several")}
	if err := cmd.RegisterFlagCompletionFunc("cluster", c.offer); err != nil {
		panic(err) // there is no such flag
	}
	return c
}

// offer completes --cluster with the names of the clusters. If the configuration cannot be read, it offers no names, and the command itself
// prints the reason.
func (c Clusters) offer(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	if conf, err := c.file.Load(); err == nil {
		for i := range conf.All {
			names = append(names, nameOf(conf.All[i]))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// Cluster is one of the clusters on which a command works.
type Cluster struct {
	Name          string // name in the list of clusters; "" if the configuration is that of a single cluster
	config.Config        // its section [delegate] comes from the file that lists the clusters
}

// BatchName returns the cluster's name in the configuration, otherwise its name in the batch system, or "" if no sidecar has run yet.
func (c Cluster) BatchName() string { return nameOf(config.Member{Config: c.Config}) }

// Journal opens the cluster's journal for reading. If the user may not open the file, the sidecar returns its
// contents.
func (c Cluster) Journal() (journal.Reader, error) {
	return openJournal(c.Config.Journal.Path, c.Session.Socket, readers.Remote)
}

// OpenApplications opens the journal of applications for reading. If the user may not open the file, the sidecar at
// the socket returns its contents.
func OpenApplications(path, socket string) (journal.Reader, error) {
	return openJournal(path, socket, readers.RemoteApplications)
}

// openJournal opens the file if the user may read it, even while no sidecar runs. Otherwise it returns the reader of `remote`.
func openJournal(path, socket string, remote func(socket, path string) journal.Reader) (journal.Reader, error) {
	j, err := journal.OpenReadOnly(path)
	switch {
	case err == nil:
		return j, nil
	case errors.Is(err, fs.ErrPermission):
		return remote(socket, path), nil
	}
	return nil, err
}

// Chosen returns the clusters that --cluster selects. Without --cluster it returns all clusters.
func (c Clusters) Chosen() ([]Cluster, error) {
	conf, err := c.file.Shown()
	if err != nil {
		return nil, err
	}
	if len(conf.All) == 1 && *c.name == "" {
		return []Cluster{{Config: conf.All[0].Config}}, nil
	}
	var chosen []Cluster
	var names []string
	for i := range conf.All {
		one := Cluster{Name: nameOf(conf.All[i]), Config: conf.All[i].Config}
		one.Delegate = conf.Delegate
		names = append(names, one.Name)
		if *c.name == "" || *c.name == one.Name {
			chosen = append(chosen, one)
		}
	}
	if len(chosen) == 0 {
		return nil, Usage(fmt.Errorf("--cluster %q: %s has no cluster of that name; it has %s", *c.name, c.file.Path(), strings.Join(names, ", ")))
	}
	return chosen, nil
}

// One returns the cluster that --cluster selects, for a command that needs exactly one.
func (c Clusters) One() (Cluster, error) {
	chosen, err := c.Chosen()
	if err != nil {
		return Cluster{}, err
	}
	if len(chosen) > 1 {
		names := make([]string, len(chosen))
		for i := range chosen {
			names[i] = chosen[i].Name
		}
		return Cluster{}, Usage(fmt.Errorf("%s lists several clusters: say with --cluster which one is meant: %s", c.file.Path(), strings.Join(names, ", ")))
	}
	return chosen[0], nil
}

// nameOf returns a cluster's name in the configuration, otherwise its name in the batch system, which a sidecar has stored. Before the
// first sidecar has run, it returns the path of the configuration.
func nameOf(m config.Member) string {
	if m.Config.Cluster != "" {
		return m.Config.Cluster
	}
	if state, err := readers.ReadState(m.Config.Session.Socket, time.Now()); err == nil && state.Cluster != "" {
		return state.Cluster
	}
	j, err := Cluster{Config: m.Config}.Journal()
	if err != nil {
		return m.File
	}
	defer j.Close()
	if report, err := status.Read(j); err == nil && report.Cluster != "" {
		return report.Cluster
	}
	return m.File
}

// Each calls `do` for each cluster, one after another. If there are several clusters and `do` fails for one, Each
// prints the error and continues. The exit status is the highest of all.
func Each(cmd *cobra.Command, all []Cluster, do func(Cluster) error) error {
	if len(all) == 1 {
		return do(all[0])
	}
	failed := 0
	for _, c := range all {
		if err := do(c); err != nil {
			failed = max(failed, tell(cmd, c, err))
		}
	}
	if failed > 0 {
		return ExitError{Status: failed}
	}
	return nil
}

// tell prints the error of a cluster and returns its exit status.
func tell(cmd *cobra.Command, c Cluster, err error) int {
	coded := ExitError{Status: 1, Err: err}
	errors.As(err, &coded)
	if coded.Err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "accordion: cluster %s: %v\n", c.Name, coded.Err)
	}
	return coded.Status
}
