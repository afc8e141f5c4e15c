package launcher

import (
	"reflect"
	"strings"
)

// makers make an empty message of each type.
var makers = map[string]func() Message{}

// table says how a struct's fields are called in a frame.
type table struct {
	fields []field
	byKey  map[string]int // index in fields
}

type field struct {
	key       string
	index     int  // in the struct
	omitempty bool // not sent when zero
	lists     bool // its elements are lists of their fields' values
}

// tables are those of all messages and of what is in them. They are complete before anything is sent, and never change.
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
