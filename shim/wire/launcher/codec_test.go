package launcher

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ugorji/go/codec"
	"pgregory.net/rapid"

	"accordion/shim/wire"
)

// fillRandom sets every field of a value at random. Integers can have all sizes.
func fillRandom(t *rapid.T, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-300, 300), rapid.SampledFrom([]int64{
			math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, math.MaxUint32, math.MaxUint16, -32769, 1 << 32,
		})).Draw(t, "n"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "f"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "b"))
	case reflect.String:
		v.SetString(rapid.StringN(0, 40, 300).Draw(t, "s"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fillRandom(t, v.Elem(), depth+1)
		}
	case reflect.Map:
		if m := rapid.MapOfN(rapid.StringN(0, 9, 40), rapid.StringN(0, 9, 40), 0, 20).Draw(t, "m"); len(m) > 0 {
			v.Set(reflect.ValueOf(m))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if b := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes"); len(b) > 0 {
				v.SetBytes(b)
			}
			return
		}
		n := rapid.IntRange(0, 20/depth).Draw(t, "len")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fillRandom(t, v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillRandom(t, v.Field(i), depth)
		}
	}
}

// normal replaces nil lists by empty ones, as they are after decoding.
func normal(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			normal(v.Elem())
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.SetZero()
		}
		for i := range v.Len() {
			normal(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			normal(v.Field(i))
		}
	}
}

func messages() *rapid.Generator[Message] {
	return rapid.Custom(func(t *rapid.T) Message {
		m := makers[rapid.SampledFrom(slices.Sorted(maps.Keys(makers))).Draw(t, "t")]()
		fillRandom(t, reflect.ValueOf(m).Elem(), 1)
		normal(reflect.ValueOf(m))
		return m
	})
}

func TestWhatWasSentArrivesAndAnotherMsgpackLibraryReadsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent, seq := messages().Draw(t, "message"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "s")
		frame, err := Append([]byte("before"), seq, sent)
		if err != nil || !bytes.HasPrefix(frame, []byte("before")) {
			t.Fatal(err)
		}
		frame = frame[len("before"):]
		got, n, err := Read(io.MultiReader(bytes.NewReader(frame), strings.NewReader("after")), MostToClient)
		if err != nil || n != seq {
			t.Fatalf("number %d, %v", n, err)
		}
		normal(reflect.ValueOf(got))
		if !reflect.DeepEqual(sent, got) {
			t.Fatalf("sent %+v, got %+v", sent, got)
		}
		h := new(codec.MsgpackHandle)
		h.WriteExt, h.RawToString, h.SignedInteger = true, true, true
		var plain map[string]any
		d := codec.NewDecoderBytes(frame[4:], h)
		if err := d.Decode(&plain); err != nil || d.NumBytesRead() != len(frame)-4 {
			t.Fatalf("the library read %d of %d bytes: %v", d.NumBytesRead(), len(frame)-4, err)
		}
		if plain["t"] != sent.Type() || plain["s"] != seq {
			t.Fatalf("the library read %v", plain)
		}
	})
}

// by returns a frame as another program might write it.
func by(t testing.TB, fields any) []byte {
	t.Helper()
	h := new(codec.MsgpackHandle)
	h.WriteExt = true
	var body []byte
	if err := codec.NewEncoderBytes(&body, h).Encode(fields); err != nil {
		t.Fatal(err)
	}
	return framed(body)
}

func framed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

type object = map[string]any

// request returns a request with some fields changed; nil leaves a field out.
func request(t testing.TB, change object) []byte {
	fields := object{"t": "request", "s": 7, "view": 3, "tag": 0, "hosts": []any{[]any{1, 4}, []any{2, 5}}, "walltime": 60}
	for key, v := range change {
		if fields[key] = v; v == nil {
			delete(fields, key)
		}
	}
	return by(t, fields)
}

func TestWhatIsNoMessageIsRefusedWithItsCode(t *testing.T) {
	deep := func(n int) any {
		var v any = 1
		for range n {
			v = []any{v}
		}
		return v
	}
	for name, c := range map[string]struct {
		frame       []byte
		code, field string
		seq         int64
	}{
		"empty":                      {framed(nil), CodeFrame, "", 0},
		"not msgpack":                {framed([]byte{0xc1}), CodeFrame, "", 0},
		"a list":                     {by(t, []any{"t", "ping"}), CodeFrame, "", 0},
		"a map that is not whole":    {framed([]byte{0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1, 't'}), CodeFrame, "", 0},
		"a list that is not whole":   {framed([]byte{0x81, 0xa1, 'x', 0xdd, 0xff, 0xff, 0xff, 0xff}), CodeFrame, "", 0},
		"a string that is not whole": {framed([]byte{0x81, 0xa1, 't', 0xdb, 0xff, 0xff, 0xff, 0xff}), CodeFrame, "", 0},
		"bytes after it":             {framed(append(by(t, object{"t": "ping", "s": 1})[4:], 0)), CodeFrame, "", 0},
		"no type":                    {request(t, object{"t": nil}), CodeFrame, "", 0},
		"a number for a type":        {request(t, object{"t": 7}), CodeFrame, "", 0},
		"no number":                  {request(t, object{"s": nil}), CodeFrame, "", 0},
		"the number 0":               {request(t, object{"s": 0}), CodeFrame, "", 0},
		"a key that is a number":     {framed([]byte{0x81, 1, 1}), CodeFrame, "", 0},
		"a key that is binary":       {framed([]byte{0x81, 0xc4, 1, 't', 1}), CodeFrame, "", 0},
		"a deep key inside":          {framed([]byte{0x81, 0xa1, 'x', 0x81, 1, 1}), CodeFrame, "", 0},
		"too deep":                   {request(t, object{"x": deep(6)}), CodeFrame, "", 0},
		"an unknown type":            {request(t, object{"t": "dance"}), CodeType, "", 7},
		"fractional":                 {request(t, object{"walltime": 1.5}), CodeWalltime, "walltime", 7},
		"a whole float":              {request(t, object{"walltime": 60.0}), CodeWalltime, "walltime", 7},
		"2^63":                       {request(t, object{"walltime": uint64(1 << 63)}), CodeWalltime, "walltime", 7},
		"a fractional host":          {request(t, object{"hosts": []any{[]any{1, 4}, []any{2, 0.5}}}), CodeHosts, "hosts[1].n", 7},
		"a cluster by its name":      {request(t, object{"hosts": []any{[]any{"a", 4}}}), CodeCluster, "hosts[0].c", 7},
		"three numbers":              {request(t, object{"hosts": []any{[]any{1, 2, 3}}}), CodeHosts, "hosts[0]", 7},
		"hosts as a map":             {request(t, object{"hosts": object{"a": 4}}), CodeHosts, "hosts", 7},
		"a view that is a string":    {request(t, object{"view": "3"}), CodeView, "view", 7},
		"a tag above all":            {request(t, object{"tag": uint64(math.MaxUint64)}), CodeState, "tag", 7},
		"a key twice":                {framed([]byte("\x84\xa1t\xa3ack\xa1s\x07\xa4view\x01\xa4view\x02")), CodeView, "view", 7},
		"text that is none":          {framed([]byte("\x83\xa1t\xa5hello\xa1s\x01\xa4name\xa1\xff")), CodeFrame, "name", 1},
		"jobs that are maps":         {by(t, object{"t": "parts", "s": 2, "jobs": []any{object{"c": "a", "job": 1}}}), CodeJob, "jobs[0]", 2},
		"attributes of numbers":      {by(t, object{"t": "subscribe", "s": 2, "filter": object{"attrs": object{"a": 1}}}), CodeCluster, `filter.attrs."a"`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, err := Decode(c.frame)
			refuse := Refusal(err)
			if refuse == nil || m != nil || refuse.Code != c.code || refuse.Field != c.field || refuse.To != c.seq || refuse.Text == "" {
				t.Fatalf("%v: %+v", err, refuse)
			}
		})
	}
}

func TestWhatMayBeIsRead(t *testing.T) {
	want := &Request{View: 3, Hosts: []Hosts{{1, 4}, {2, 5}}, Walltime: 60}
	for name, frame := range map[string][]byte{
		"as it is":            request(t, nil),
		"unknown keys":        request(t, object{"x": object{"y": []any{nil, 1.5, "z", []byte{1}, uint64(math.MaxUint64)}}, "v": 9}),
		"nested five times":   request(t, object{"x": []any{[]any{[]any{[]any{[]any{}}}}}}),
		"a tag that is nil":   framed(bytes.Replace(request(t, nil)[4:], []byte("\xa3tag\x00"), []byte("\xa3tag\xc0"), 1)),
		"walltime in 64 bits": framed(bytes.Replace(request(t, nil)[4:], []byte("\xa8walltime\x3c"), []byte("\xa8walltime\xd3\x00\x00\x00\x00\x00\x00\x00\x3c"), 1)),
		"walltime in 16 bits": framed(bytes.Replace(request(t, nil)[4:], []byte("\xa8walltime\x3c"), []byte("\xa8walltime\xcd\x00\x3c"), 1)),
		"an extension":        request(t, object{"x": codec.RawExt{Tag: 5, Data: []byte{1, 2, 3}}}),
	} {
		if m, seq, err := Decode(frame); err != nil || seq != 7 || !reflect.DeepEqual(m, want) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestFramesAreBounded(t *testing.T) {
	frame := request(t, nil)
	var long *wire.TooLongError
	if _, _, err := Read(bytes.NewReader(frame), len(frame)-5); !errors.As(err, &long) || Refusal(err).Code != CodeSize {
		t.Errorf("one byte too long: %v", err)
	}
	if _, _, err := Read(bytes.NewReader(frame[:len(frame)-1]), 100); !errors.Is(err, wire.ErrTruncated) || Refusal(err) != nil {
		t.Errorf("one byte too short: %v", err)
	}
	if _, _, err := Read(bytes.NewReader(nil), 100); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: %v", err)
	}
	b := []byte("before")
	if got, err := Append(b, 1, &Abort{Why: strings.Repeat("x", MostToClient)}); !errors.As(err, &long) || string(got) != "before" {
		t.Errorf("append: %v", err)
	}
}

// Decoding any bytes gives an error that has a refusal, or a message that stays the same when it is encoded and decoded again.
func FuzzDecode(f *testing.F) {
	for _, m := range []Message{
		&Hello{Version: 2, Speaks: []int{2}, Name: "n", Part: &Part{"a", 3}, Key: []byte{1}},
		&Change{View: 2, Base: 1, Now: 9, All: []ClusterChange{{C: 1, Kind: 7, Info: &Cluster{Name: "a", Speed: 1.5, Attrs: texts{"a": "b"}}, From: 9, Steps: []int64{9, 1}}}},
		&Start{Tag: 1, Hosts: []Names{{1, []string{"n1", "n2"}}}},
		&Subscribe{Filter: Filter{MinHosts: 2, Clusters: []string{"a"}}, Jobs: []Part{{"a", 1}}},
	} {
		frame, err := Append(nil, 1, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame[4:])
	}
	f.Add([]byte{0xdf, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		m, seq, err := Decode(framed(body))
		if err != nil {
			if Refusal(err) == nil || m != nil {
				t.Fatalf("%v: %+v", err, m)
			}
			return
		}
		Check(m)
		if c, is := m.(*Change); is {
			view := View{Number: c.Base, Clusters: map[int]Picture{1: {Steps: []int64{5, 3, 9, 4}}}}
			if err := view.Apply(c); err == nil && view.Number != c.View {
				t.Fatalf("%+v makes view %d", c, view.Number)
			}
		}
		frame, err := Append(nil, seq, m)
		if err != nil {
			return // with lists of empty values, the encoded message may be longer than the received one
		}
		again, n, err := Decode(frame)
		if err != nil || n != seq {
			t.Fatalf("%+v does not come back: %v", m, err)
		}
		normal(reflect.ValueOf(m))
		normal(reflect.ValueOf(again))
		if !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v became %+v", m, again)
		}
	})
}

type texts = map[string]string
