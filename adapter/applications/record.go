package applications

// Record is an application as the journal keeps it.
type Record struct {
	ID   int64
	Data []byte // JSON
}
