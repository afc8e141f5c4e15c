// Command site makes a site of the guides: a folder of pages that ask nobody else for anything.
//
//	go run -C scripts/site . FOLDER
//
// docs/README.md says which pages there are and in which order they are read; each stands there once. A link that leads
// nowhere is an error, and so is what a page would lose: nothing is written then. Two runs over one tree write the same.
//
// It is a module of its own, for the program needs no Markdown.
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
