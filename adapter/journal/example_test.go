package journal_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"accordion/adapter/journal"
)

// A sidecar dies between an intent and its outcome. The next one finds the intent, and asks the
// batch system whether it was carried out.
func Example() {
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path, now := filepath.Join(folder, "journal.db"), time.Unix(1700000000, 0)

	first, err := journal.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	shrink, err1 := first.Begin(journal.Intent{At: now, Job: 7, Submitted: 1699990000, Verb: "shrink"})
	err2 := first.Finish(shrink, now.Add(150*time.Millisecond), nil)
	_, err3 := first.Begin(journal.Intent{At: now, Job: 8, Submitted: 1699990001, Verb: "merge"})
	if err := errors.Join(err1, err2, err3, first.Close()); err != nil {
		log.Fatal(err)
	}

	second, err := journal.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()
	half, err := second.Unfinished()
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range half {
		if err := second.Resolve(e.ID, now.Add(time.Minute), journal.Lost+": found done"); err != nil {
			log.Fatal(err)
		}
	}
	for e, err := range second.Entries(0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.ID, e.Job, e.Verb, e.Outcome, e.Took)
	}
	// Output:
	// 1 7 shrink done 150ms
	// 2 8 merge lost: found done 1m0s
}
