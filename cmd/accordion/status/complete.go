package status

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/cmd/accordion/command"
	"accordion/core"
)

// Completions are read from the journals. If the journals cannot be read, no completions are offered, and the command itself prints the
// reason.

// offer returns a function that completes a word, for the clusters that the command line selects.
type offer func(command.Clusters) cobra.CompletionFunc

// offered has the completions of a command's arguments and flags.
type offered struct {
	arguments offer // nil if there is none
	flags     map[string]offer
}

// entries calls `do` with each job in the queues of the selected clusters.
func entries(clusters command.Clusters, do func(view.Entry)) {
	all, err := clusters.Chosen()
	if err != nil {
		return
	}
	for _, c := range all {
		for _, e := range entriesOf(c) {
			do(e)
		}
	}
}

func entriesOf(c command.Cluster) []view.Entry {
	j, err := c.Journal()
	if err != nil {
		return nil
	}
	defer j.Close()
	report, err := status.ReadQueue(j)
	if err != nil {
		return nil
	}
	return report.Jobs
}

// offerJobs completes the numbers of jobs, each with a description.
func offerJobs(clusters command.Clusters) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, word string) (offers []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		entries(clusters, func(e view.Entry) {
			if number := strconv.FormatInt(int64(e.ID), 10); strings.HasPrefix(number, word) {
				offers = append(offers, cobra.CompletionWithDesc(number, fmt.Sprintf("%s of %s, %s", core.Printable(e.Name), core.Printable(e.User), e.Phase)))
			}
		})
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// offerUsers completes the names of users who have jobs.
func offerUsers(clusters command.Clusters) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) (offers []string, _ cobra.ShellCompDirective) {
		there := map[string]bool{}
		entries(clusters, func(e view.Entry) {
			if user := core.Printable(e.User); strings.HasPrefix(user, word) && !there[user] {
				there[user] = true
				offers = append(offers, user)
			}
		})
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}

// offers sets the completions of a flag.
func offers(c *cobra.Command, flag string, what cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, what); err != nil {
		panic(err) // there is no such flag
	}
}
