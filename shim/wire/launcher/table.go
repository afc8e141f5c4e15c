package launcher

import (
	"reflect"
	"strings"
)

// makers return an empty message of each type.
var makers = map[string]func() Message{}

// table has the keys of a struct's fields.
type table struct {
	fields []field
	byKey  map[string]int // index in fields
}

type field struct {
	key       string
	index     int  // in the struct
	omitempty bool // zero is not sent
	lists     bool // its elements are sent as lists of their fields' values
}

// tables has the tables of all messages and of the structs in them. It is complete after initialization, and never changes.
var tables = map[reflect.Type]*table{}

func init() {
	for _, m := range []Message{
		&Hello{}, &Welcome{}, &Subscribe{}, &List{}, &Clusters{}, &Change{}, &Ack{}, &Request{}, &Start{}, &Lost{},
		&Parts{}, &Ready{}, &Go{}, &Abort{}, &Done{}, &Okay{}, &Refuse{}, &End{}, &Ping{}, &Pong{},
	} {
		kind := reflect.TypeOf(m).Elem()
		makers[m.Type()] = func() Message { return reflect.New(kind).Interface().(Message) }
		enter(kind)
	}
}

func enter(kind reflect.Type) {
	switch kind.Kind() {
	case reflect.Pointer, reflect.Slice:
		enter(kind.Elem())
	case reflect.Struct:
		if tables[kind] != nil {
			return
		}
		t := &table{byKey: map[string]int{}}
		tables[kind] = t
		for i := range kind.NumField() {
			key, options, _ := strings.Cut(kind.Field(i).Tag.Get("codec"), ",")
			t.byKey[key] = len(t.fields)
			t.fields = append(t.fields, field{
				key: key, index: i, omitempty: options == "omitempty", lists: options == "lists",
			})
			enter(kind.Field(i).Type)
		}
	}
}
