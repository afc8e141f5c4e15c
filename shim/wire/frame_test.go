package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// frame puts a header before a body.
func frame(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestARequestArrivesAsItWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := Request{
			Job:     rapid.Int64Min(1).Draw(t, "job"),
			Step:    rapid.IntRange(0, 1<<40).Draw(t, "step"),
			Keep:    rapid.StringN(0, 100, 400).Draw(t, "keep"),
			Release: rapid.StringN(0, 100, 400).Draw(t, "release"),
			Waits:   rapid.Int64Min(0).Draw(t, "waits"),
		}
		var b bytes.Buffer
		if err := WriteRequest(&b, sent); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRequest(iotest.OneByteReader(&b))
		if err != nil {
			t.Fatal(err)
		}
		sent.Version = Version
		if d := cmp.Diff(sent, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestAReplyArrivesAsItWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := Reply{
			Status:     rapid.SampledFrom([]Status{Resized, Refused, Over, Late, Busy}).Draw(t, "status"),
			Why:        rapid.StringN(0, 100, 400).Draw(t, "why"),
			Nodes:      rapid.StringN(0, 100, 400).Draw(t, "nodes"),
			Count:      rapid.IntMin(0).Draw(t, "count"),
			Step:       rapid.IntMin(0).Draw(t, "step"),
			Steps:      rapid.IntMin(0).Draw(t, "steps"),
			Until:      rapid.Int64().Draw(t, "until"),
			Generation: rapid.IntMin(0).Draw(t, "generation"),
			Allocations: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Allocation {
				return Allocation{Job: rapid.Int64Min(1).Draw(t, "job"), Nodes: rapid.StringN(1, 100, 400).Draw(t, "its nodes")}
			}), 0, 4).Draw(t, "allocations"),
		}
		var b bytes.Buffer
		if err := WriteReply(&b, sent); err != nil {
			t.Fatal(err)
		}
		got, err := ReadReply(&b)
		if err != nil {
			t.Fatal(err)
		}
		sent.Version = Version
		if d := cmp.Diff(sent, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// The bytes must be the same in every release of this version, because jobs outlive an upgrade of the sidecar.
func TestTheBytesOfVersion1DoNotChange(t *testing.T) {
	var request, reply bytes.Buffer
	if err := WriteRequest(&request, Request{Job: 4711, Step: 2, Keep: "n[3-4]", Waits: 60}); err != nil {
		t.Fatal(err)
	}
	if err := WriteReply(&reply, Reply{Status: Resized, Nodes: "n[1-5]", Count: 5, Step: 3, Steps: 3, Until: 1770000000, Generation: 2}); err != nil {
		t.Fatal(err)
	}
	const (
		wantRequest = "00000024" + "85" + "a36a6f62" + "d11267" + "a46b656570" + "a66e5b332d345d" + "a473746570" + "02" + "a176" + "01" + "a57761697473" + "3c"
		wantReply   = "0000004b" + "88" + "a5636f756e74" + "05" + "aa67656e65726174696f6e" + "02" + "a56e6f646573" + "a66e5b312d355d" +
			"a6737461747573" + "a7726573697a6564" + "a473746570" + "03" + "a57374657073" + "03" + "a5756e74696c" + "d269800e80" + "a176" + "01"
	)
	if got := hex.EncodeToString(request.Bytes()); got != wantRequest {
		t.Errorf("request:\ngot  %s\nwant %s", got, wantRequest)
	}
	if got := hex.EncodeToString(reply.Bytes()); got != wantReply {
		t.Errorf("reply:\ngot  %s\nwant %s", got, wantReply)
	}
}

func TestBadFramesHaveTypedErrors(t *testing.T) {
	const good = "\x82\xa1v\x01\xa3job\x07"
	tooLong := func(n uint64) error { return &TooLongError{Length: n} }
	version := func(v int64) error { return &VersionError{Version: v} }
	for name, c := range map[string]struct {
		in   []byte
		want error // a *MalformedError is compared by type, the others by value
	}{
		"nothing":                      {nil, io.EOF},
		"half a length":                {[]byte{0, 0}, ErrTruncated},
		"a length and nothing":         {[]byte{0, 0, 0, 9}, ErrTruncated},
		"half a message":               {frame(good)[:9], ErrTruncated},
		"one byte more than allowed":   {frame(strings.Repeat("\xc0", MaxFrame+1)), tooLong(MaxFrame + 1)},
		"four gigabytes":               {[]byte{0xff, 0xff, 0xff, 0xff}, tooLong(1<<32 - 1)},
		"an HTTP request":              {[]byte("GET / HTTP/1.1\r\n\r\n"), tooLong(0x47455420)},
		"an empty message":             {frame(""), &MalformedError{}},
		"nil":                          {frame("\xc0"), &MalformedError{}},
		"a number":                     {frame("\x07"), &MalformedError{}},
		"an array in place of a map":   {frame("\x92\x01\x07"), &MalformedError{}},
		"a map without its entries":    {frame("\x82\xa1v\x01"), &MalformedError{}},
		"a map of 2^32-1 entries":      {frame("\xdf\xff\xff\xff\xff\xa1v\x01"), &MalformedError{}},
		"a string longer than it is":   {frame("\x82\xa1v\x01\xa3job\xdb\xff\xff\xff\xff"), &MalformedError{}},
		"a field we do not know":       {frame("\x83\xa1v\x01\xa3job\x07\xa3uid\x00"), &MalformedError{}},
		"a string for a number":        {frame("\x82\xa1v\x01\xa3job\xa1x"), &MalformedError{}},
		"bytes that are no UTF-8":      {frame("\x83\xa1v\x01\xa3job\x07\xa4keep\xa1\xff"), &MalformedError{}},
		"bytes after the message":      {frame(good + "\x00"), &MalformedError{}},
		"64 KiB of nested arrays":      {frame("\x81\xa1v" + strings.Repeat("\x91", MaxFrame-3)), &MalformedError{}},
		"64 KiB of one letter":         {frame(strings.Repeat("A", MaxFrame)), &MalformedError{}},
		"job 0":                        {frame("\x82\xa1v\x01\xa3job\x00"), &MalformedError{}},
		"a negative job":               {frame("\x82\xa1v\x01\xa3job\xff"), &MalformedError{}},
		"a negative step":              {frame("\x83\xa1v\x01\xa3job\x07\xa4step\xff"), &MalformedError{}},
		"negative patience":            {frame("\x83\xa1v\x01\xa3job\x07\xa5waits\xff"), &MalformedError{}},
		"no version":                   {frame("\x81\xa3job\x07"), version(0)},
		"another version":              {frame("\x82\xa1v\x02\xa3job\x07"), version(2)},
		"another version's new fields": {frame("\x83\xa1v\x02\xa3job\x07\xa3new\x92\x01\x02"), version(2)},
		"a version that is no number":  {frame("\x82\xa1v\xa11\xa3job\x07"), version(0)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadRequest(bytes.NewReader(c.in))
			var m *MalformedError
			if errors.As(c.want, &m) && errors.As(err, &m) {
				return
			}
			if !sameError(err, c.want) {
				t.Fatalf("got %+v, %v; want %v", got, err, c.want)
			}
		})
	}
	if _, err := ReadRequest(bytes.NewReader(frame(good))); err != nil {
		t.Fatalf("the good frame that the others are made from: %v", err)
	}
}

func sameError(got, want error) bool {
	return errors.Is(got, want) || reflect.DeepEqual(got, want)
}

func TestAReplyOfAnUnknownStatusIsMalformed(t *testing.T) {
	var m *MalformedError
	if _, err := ReadReply(bytes.NewReader(frame("\x82\xa1v\x01\xa6status\xa3yes"))); !errors.As(err, &m) {
		t.Fatalf("got %v", err)
	}
	if _, err := ReadReply(bytes.NewReader(frame("\x83\xa1v\x01\xa6status\xa4over\xa5count\xff"))); !errors.As(err, &m) {
		t.Fatalf("a negative count: got %v", err)
	}
}

func TestImpossibleAllocationsAreMalformed(t *testing.T) {
	for name, allocation := range map[string]string{
		"job 0":            "\x82\xa3job\x00\xa5nodes\xa2n1",
		"a negative job":   "\x82\xa3job\xff\xa5nodes\xa2n1",
		"no nodes":         "\x81\xa3job\x07",
		"a number":         "\x07",
		"a string for job": "\x82\xa3job\xa17\xa5nodes\xa2n1",
	} {
		var m *MalformedError
		_, err := ReadReply(bytes.NewReader(frame("\x83\xa1v\x01\xa6status\xa4over\xaballocations\x91" + allocation)))
		if !errors.As(err, &m) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A sidecar of a later release may send more fields than this shim knows. The shim still reads the fields that it
// knows.
func TestAReplyMayHaveFieldsThatWeDoNotKnow(t *testing.T) {
	p, err := ReadReply(bytes.NewReader(frame("\x84\xa1v\x01\xa6status\xa4over\xa5nodes\xa2n1\xa5later\x91\x81\xa1x\x01")))
	if err != nil || p.Status != Over || p.Nodes != "n1" {
		t.Fatalf("got %+v, %v", p, err)
	}
}

func TestAMessageThatIsTooLongIsNotWritten(t *testing.T) {
	var b bytes.Buffer
	var e *TooLongError
	if err := WriteRequest(&b, Request{Job: 1, Keep: strings.Repeat("n", MaxFrame)}); !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if b.Len() > 0 {
		t.Fatalf("%d bytes were written", b.Len())
	}
}

func TestNothingAfterTheFrameIsRead(t *testing.T) {
	b := bytes.NewBuffer(append(frame("\x82\xa1v\x01\xa3job\x07"), "rest"...))
	if _, err := ReadRequest(b); err != nil {
		t.Fatal(err)
	}
	if b.String() != "rest" {
		t.Fatalf("%q is left", b)
	}
}

func TestErrorOfTheReaderIsReturned(t *testing.T) {
	broken := errors.New("broken")
	for name, r := range map[string]io.Reader{
		"in the length":  iotest.ErrReader(broken),
		"in the message": io.MultiReader(bytes.NewReader([]byte{0, 0, 0, 9, 1}), iotest.ErrReader(broken)),
	} {
		if _, err := ReadRequest(r); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestManyGoroutinesShareTheCodec(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			a, b := net.Pipe()
			defer a.Close()
			defer b.Close()
			sent := make(chan error, 1)
			go func() { sent <- WriteRequest(a, Request{Job: int64(i + 1), Keep: strings.Repeat("x", i)}) }()
			got, err := ReadRequest(b)
			if err != nil || <-sent != nil || got.Job != int64(i+1) || len(got.Keep) != i {
				t.Errorf("%d: got %+v, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

// FuzzReadRequest checks that ReadRequest returns a typed error, or a request that is the same after it is written and
// read again.
func FuzzReadRequest(f *testing.F) {
	f.Add(frame("\x82\xa1v\x01\xa3job\x07"))
	f.Add(frame("\x83\xa1v\x02\xa3job\x07\xa3new\x92\x01\x02"))
	f.Add(frame("\xdf\xff\xff\xff\xff"))
	f.Add(frame("\x81\xa1v" + strings.Repeat("\x91", 5000)))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		q, err := ReadRequest(bytes.NewReader(in))
		if err != nil {
			var long *TooLongError
			var version *VersionError
			var bad *MalformedError
			if !errors.As(err, &long) && !errors.As(err, &version) && !errors.As(err, &bad) && !errors.Is(err, ErrTruncated) && !errors.Is(err, io.EOF) {
				t.Fatalf("an error of no known type: %v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := WriteRequest(&b, q); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if again, err := ReadRequest(&b); err != nil || again != q {
			t.Fatalf("read again: %+v, %v; first %+v", again, err, q)
		}
	})
}

// FuzzReadReply checks replies as FuzzReadRequest checks requests.
func FuzzReadReply(f *testing.F) {
	f.Add(frame("\x82\xa1v\x01\xa6status\xa4over"))
	f.Add(frame("\x84\xa1v\x01\xa6status\xa7resized\xa5nodes\xa6n[1-5]\xa5count\x05"))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := ReadReply(bytes.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteReply(&b, p); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if again, err := ReadReply(&b); err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("read again: %+v, %v; first %+v", again, err, p)
		}
	})
}
