package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// A stored record begins with a checksum, so that Accordion does not use a record that a failing
// disk or a person changed. The record begins with {"sum":"1badcafe", which is followed by the data
// after its first brace. So the record stays JSON, which an older Accordion can read. A record that
// an older Accordion wrote has no checksum.
const (
	sumHead = `{"sum":"`
	sumTail = `",`
	sumSize = len(sumHead) + 8 + len(sumTail)
)

// ErrChanged is the error for a record that is not what was written.
var ErrChanged = errors.New("its checksum is another one than when it was written")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// summed returns a record's data with its checksum, as it is stored. Data that is not a non-empty
// JSON object, or that has a checksum already, stays as it is.
func summed(data []byte) []byte {
	if len(data) < 3 || data[0] != '{' || data[1] != '"' || bytes.HasPrefix(data, []byte(sumHead)) {
		return notNil(data)
	}
	head := fmt.Appendf(nil, "%s%08x%s", sumHead, crc32.Checksum(data[1:], castagnoli), sumTail)
	return append(head, data[1:]...)
}

// unsummed returns a record's data without its checksum. If the checksum does not match, the error
// is ErrChanged, and the data is returned as it is stored.
func unsummed(kept []byte) ([]byte, error) {
	if !bytes.HasPrefix(kept, []byte(sumHead)) {
		return kept, nil // written by an older Accordion
	}
	if len(kept) < sumSize || string(kept[sumSize-len(sumTail):sumSize]) != sumTail {
		return kept, ErrChanged
	}
	data := append([]byte{'{'}, kept[sumSize:]...)
	if fmt.Sprintf("%08x", crc32.Checksum(data[1:], castagnoli)) != string(kept[len(sumHead):len(sumHead)+8]) {
		return kept, ErrChanged
	}
	return data, nil
}
