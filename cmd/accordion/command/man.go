package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Man returns the command "accordion man", which writes the manual pages when packages are built.
func Man() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual page of each command into a folder",
		Long: `Write the manual page of each command (accordion.1, accordion-serve.1 and so on) into a folder, which is made if it does not exist.
The pages have today's date. If $SOURCE_DATE_EPOCH is set, they have that date instead, so that two builds of a package are the same.`,
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return Usage(errors.New("man takes one folder, such as: accordion man /usr/local/share/man/man1"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			day := time.Now()
			if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
				seconds, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return Usage(fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds since 1970", text))
				}
				day = time.Unix(seconds, 0).UTC()
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := doc.GenManHeader{Title: "ACCORDION", Section: "1", Source: "Accordion " + Version(), Manual: "Accordion", Date: &day}
			if err := doc.GenManTree(root, &header, args[0]); err != nil {
				return err
			}
			return topicPages(root, header, args[0])
		},
	}
}

// topicPages writes the manual pages of help topics, because cobra writes none for them.
func topicPages(root *cobra.Command, header doc.GenManHeader, folder string) error {
	for _, c := range root.Commands() {
		if !c.IsAdditionalHelpTopicCommand() {
			continue
		}
		header.Title = strings.ToUpper("accordion-" + c.Name())
		var page bytes.Buffer
		if err := doc.GenMan(c, &header, &page); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, "accordion-"+c.Name()+".1"), page.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
