// Command gains writes docs/gains.md: who gains from profiles on real logs, and who does not.
//
//	go run ./scripts/gains -o docs/gains.md                   all logs, three seeds: an hour and more of processor time
//	go run ./scripts/gains -logs KTH-SP2,CTC-SP2 -seeds 1     a look
//	go run ./scripts/gains -keep DIR -o docs/gains.md         the same again, with the logs that one before it came to the end of
//
// It replays logs that scripts/fetch-traces fetched ($ACCORDION_TRACES, else where that puts them).
package main

import (
	"context"
	"encoding/json"
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
	keep := flag.String("keep", "", "a `FOLDER` for the results of each log: what is in it is not replayed again (of another build, or with other logs, it is wrong)")
	out := flag.String("o", "", "the page (default: standard output)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, *seeds, *keep, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gains:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, seeds int, keep, out string) error {
	folder, err := swf.Folder()
	if err != nil {
		return err
	}
	var all []result
	for _, l := range logs {
		if only != "" && !slices.Contains(strings.Split(only, ","), l.name) {
			continue
		}
		some, err := kept(keep, l, seeds, func() ([]result, error) {
			records, err := swf.ReadFile(filepath.Join(folder, l.file), swf.Options{})
			if err != nil {
				return nil, err
			}
			return replays(ctx, l, records, seeds)
		})
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "%s is not in %s: it is left out; scripts/fetch-traces gets it\n", l.file, folder)
			continue
		}
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

// kept is a log's results out of the folder, or, where they are not in it, made and put there. Without a folder they are made.
func kept(folder string, l log, seeds int, make func() ([]result, error)) (all []result, err error) {
	if folder == "" {
		return make()
	}
	file := filepath.Join(folder, fmt.Sprintf("%s.%d.json", l.name, seeds))
	data, err := os.ReadFile(file)
	if err == nil {
		return all, json.Unmarshal(data, &all)
	}
	if all, err = make(); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(all); err != nil {
		return nil, err
	}
	return all, os.WriteFile(file, data, 0o644)
}
