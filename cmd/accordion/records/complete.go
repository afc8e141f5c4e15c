package records

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

// What the shell offers comes from the journals, as the answers do. Where these cannot be read it offers nothing: the command says why.

// offer is what the shell completes a word with, of the clusters that the command line leaves.
type offer func(command.Clusters) cobra.CompletionFunc

// offered is what it completes a command's words with.
type offered struct {
	arguments offer // nil: nothing
	flags     map[string]offer
}

// entries calls offer with each job of the queues of the clusters that the command line leaves.
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

// offerJobs gives the numbers of the jobs of the pool that begin as the word does, each with what it is.
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

// offerUsers gives who has jobs in the pool.
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

// offers has the shell complete a flag so.
func offers(c *cobra.Command, flag string, what cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, what); err != nil {
		panic(err) // there is no such flag
	}
}
