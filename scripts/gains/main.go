// Command gains writes docs/gains.md: who gains from profiles on real logs, and who does not.
//
//	go run ./scripts/gains -o docs/gains.md                   all logs, three seeds: an hour and more of processor time
//	go run ./scripts/gains -logs KTH-SP2,CTC-SP2 -seeds 1     a look
//
// It replays logs that scripts/fetch-traces fetched ($ACCORDION_TRACES, else where that puts them).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"accordion/traces/swf"
)

func main() {
	only := flag.String("logs", "", "the logs' names, with commas between them (default: all that are there)")
	seeds := flag.Int("seeds", 3, "how often it is drawn who evolves")
	out := flag.String("o", "", "the page (default: standard output)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, *seeds, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gains:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, seeds int, out string) error {
	folder, err := swf.Folder()
	if err != nil {
		return err
	}
	var all []result
	for _, l := range logs {
		if only != "" && !slices.Contains(strings.Split(only, ","), l.name) {
			continue
		}
		log, err := swf.ReadFile(filepath.Join(folder, l.file), swf.Options{})
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "%s is not in %s: it is left out; scripts/fetch-traces gets it\n", l.file, folder)
			continue
		}
		if err != nil {
			return err
		}
		some, err := replays(ctx, l, log, seeds)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return fmt.Errorf("none of the logs is in %s", folder)
	}
	text := page(all, seeds)
	if out == "" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}
