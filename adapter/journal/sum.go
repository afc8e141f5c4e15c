package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// A record begins with its checksum, so that a changed record is not believed, whether a failing
// disk or a person changed it. It is {"sum":"1badcafe", and then what its writer gave after its
// first brace. It stays JSON, which an older Accordion reads as before; a record that the older one
// wrote has no checksum.
const (
	sumHead = `{"sum":"`
	sumTail = `",`
	sumSize = len(sumHead) + 8 + len(sumTail)
)

// ErrChanged reports a record that is not what was written.
var ErrChanged = errors.New("its checksum is another one than when it was written")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// summed returns a record's data as it is stored. Data that is not a JSON object with anything in
// it, or begins with a checksum already, stays as it is.
func summed(data []byte) []byte {
	if len(data) < 3 || data[0] != '{' || data[1] != '"' || bytes.HasPrefix(data, []byte(sumHead)) {
		return notNil(data)
	}
	head := fmt.Appendf(nil, "%s%08x%s", sumHead, crc32.Checksum(data[1:], castagnoli), sumTail)
	return append(head, data[1:]...)
}

// unsummed returns a record's data as it was given. The error is ErrChanged where the checksum does
// not match the data, which is then returned as it is stored.
func unsummed(kept []byte) ([]byte, error) {
	if !bytes.HasPrefix(kept, []byte(sumHead)) {
		return kept, nil // an older Accordion's
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
