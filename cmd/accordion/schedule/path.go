package schedule

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"accordion/core"
)

// pathTo returns the path of an object's field, as in applications[3].ep. It quotes a name that is not a plain word.
func pathTo(object, key string) string {
	if key == "" || len(key) > 40 || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		key = core.Shown(key)
	}
	if object == "" {
		return key
	}
	return object + "." + key
}

// nest is a list or an object that contains the current value.
type nest struct {
	path  string // path of the list or the object
	list  bool
	index int    // index of the value in a list
	key   string // field name of the value in an object
	named bool   // key was read, but its value was not read yet
}

// value returns the path of the current value.
func (n nest) value() string {
	switch {
	case n.list:
		return n.path + "[" + strconv.Itoa(n.index) + "]"
	case n.named:
		return pathTo(n.path, n.key)
	}
	return n.path
}

// deepest limits the depth of the path in an error message. Valid problems are less deep.
const deepest = 8

// pathToError returns the path of the value at which a text is no longer valid JSON.
func pathToError(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	nests := []nest{{}} // the outermost level
	for len(nests) <= deepest {
		top := &nests[len(nests)-1]
		token, err := d.Token()
		if err != nil {
			break
		}
		delim, _ := token.(json.Delim)
		key, isText := token.(string)
		switch {
		case delim == '{' || delim == '[':
			nests = append(nests, nest{path: top.value(), list: delim == '['})
			continue
		case delim == 0 && isText && len(nests) > 1 && !top.list && !top.named:
			top.key, top.named = key, true
			continue
		case delim == '}' || delim == ']':
			nests = nests[:len(nests)-1]
			top = &nests[len(nests)-1]
		}
		top.index, top.named = top.index+1, false // the value has ended
	}
	return nests[len(nests)-1].value()
}
