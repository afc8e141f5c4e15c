// Command site builds a site of the guides: a folder of pages that request nothing from other hosts.
//
//	go run -C scripts/site . FOLDER
//
// docs/README.md lists the pages in reading order, each once. A link that leads nowhere, or content that the site
// would lose, is an error, and nothing is written. Two runs on the same tree write the same files.
//
// It is a separate module, because the program needs no Markdown.
//
//	order.go   the pages, their order and their names
//	links.go   where links lead: to a page, to a file of the source, which gets a page too, or elsewhere
//	render.go  Markdown to HTML
//	page.go    a page around it
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "../..", "the `FOLDER` of the source")
	flag.Parse()
	if err := run(*root, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root string, args []string) error {
	if len(args) != 1 {
		return errors.New("give one FOLDER for the pages")
	}
	to := args[0]
	if there, err := os.ReadDir(to); err == nil && len(there) > 0 {
		return fmt.Errorf("%s is not empty: give a new folder, or an empty one", to)
	}
	pages, err := build(os.DirFS(root))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
