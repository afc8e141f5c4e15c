// Command gains writes docs/gains.md and its chart, gains.svg in the same folder. The page shows which jobs of real logs
// gain from profiles and which do not.
//
//	go run ./scripts/gains -o docs/gains.md                   all logs, three seeds: two hours of processor time
//	go run ./scripts/gains -logs KTH-SP2,CTC-SP2 -seeds 1     a quick try
//	go run ./scripts/gains -keep DIR -o docs/gains.md         keeps finished results in DIR, and does not compute them again
//
// It replays logs that scripts/fetch-traces fetched ($ACCORDION_TRACES, otherwise the folder of that script).
package main

import (
	"bytes"
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

	"accordion/traces/replay"
	"accordion/traces/swf"
)

func main() {
	only := flag.String("logs", "", "the logs' names, with commas between them (default: all that are there)")
	seeds := flag.Int("seeds", 3, "how often it is drawn who evolves")
	keep := flag.String("keep", "", "a `FOLDER` for the results of each log under each policy: what is in it is not replayed again (of another build, or with other logs, it is wrong)")
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
	chosen, all, err := read(folder, only, seeds)
	if err != nil {
		return err
	}
	for _, p := range replayOrder {
		for _, l := range chosen {
			metrics, err := kept(keep, l.name, policies[p], seeds, func() ([]replay.Metrics, error) {
				return replays(ctx, l, policies[p], all[l.from:l.to])
			})
			if err != nil {
				return err
			}
			for i := range metrics {
				all[l.from+i].Metrics[p] = metrics[i]
			}
		}
	}
	text := page(all, seeds)
	if out == "" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	var chart bytes.Buffer
	if err := drawHeadlines(&chart, all); err != nil {
		return fmt.Errorf("draw the chart: %w", err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(out), "gains.svg"), chart.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// read reads the chosen logs, and returns their cases. The cases have no results yet.
func read(folder, only string, seeds int) (chosen []workloads, all []result, err error) {
	for _, l := range logs {
		if only != "" && !slices.Contains(strings.Split(only, ","), l.name) {
			continue
		}
		records, err := swf.ReadFile(filepath.Join(folder, l.file), swf.Options{})
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "%s is not in %s: it is left out; scripts/fetch-traces gets it\n", l.file, folder)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		selected, err := l.Select(records)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", l.name, err)
		}
		from := len(all)
		all = append(all, cases(l.name, seeds)...)
		chosen = append(chosen, workloads{l, selected.Workload, from, len(all)})
	}
	if len(chosen) == 0 {
		return nil, nil, fmt.Errorf("none of the logs is in %s", folder)
	}
	return chosen, all, nil
}

// kept returns the results of a log under a policy from the folder. If the folder does not have them, kept computes
// and stores them. If `folder` is "", it only computes them.
func kept(folder, logName, policyName string, seeds int, make func() ([]replay.Metrics, error)) (metrics []replay.Metrics, err error) {
	if folder == "" {
		return make()
	}
	file := filepath.Join(folder, fmt.Sprintf("%s.%s.%d.json", logName, policyName, seeds))
	data, err := os.ReadFile(file)
	if err == nil {
		return metrics, json.Unmarshal(data, &metrics)
	}
	if metrics, err = make(); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(metrics); err != nil {
		return nil, err
	}
	return metrics, os.WriteFile(file, data, 0o644)
}
