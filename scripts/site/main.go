// Command site builds a site of the guides: a folder of pages that request nothing from other hosts.
//
//	go run -C scripts/site . FOLDER
//
// docs/README.md lists each page once, in reading order. A broken link, or content that the site would lose, is an
// error. In that case nothing is written. Two runs on the same tree write the same files.
//
// The command is a separate module, because Accordion itself does not need a Markdown parser.
//
//	order.go   the pages, their order and their names
//	links.go   targets of links: a page, a file of the source, which also becomes a page, or another site
//	render.go  Markdown to HTML
//	page.go    the frame of a page
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
