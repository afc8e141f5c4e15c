package conformance

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"strconv"

	"accordion/shim/wire/launcher/packed"
)

// past is the data that was sent in one direction. Its last bytes are the dictionary of the next frame. This package
// and package packed use different compression libraries, so that each checks the other.
type past []byte

func newPast() *past { p := past(packed.Dictionary); return &p }

func (p *past) add(body []byte) {
	const window = 1024
	*p = append(append(past(nil), *p...), body...)
	*p = (*p)[max(0, len(*p)-window):]
}

// pack returns a body as it is sent.
func (p *past) pack(body []byte) []byte {
	b := bytes.NewBufferString("\xc1")
	w, err := flate.NewWriterDict(b, flate.BestCompression, *p)
	if err != nil {
		panic(err) // the level is valid
	}
	w.Write(body) // a buffer returns no error
	w.Close()
	p.add(body)
	return b.Bytes()
}

// unpack returns a body as it was before packing.
func (p *past) unpack(body []byte, most int) ([]byte, error) {
	if len(body) > 0 && body[0] == 0xc1 {
		from := bytes.NewReader(body[1:])
		all, err := io.ReadAll(io.LimitReader(flate.NewReaderDict(from, *p), int64(most)+1))
		switch {
		case err != nil:
			return nil, fmt.Errorf("a packed frame: %w", err)
		case len(all) > most:
			return nil, fmt.Errorf("a frame that unpacks to more than %d bytes", most)
		case from.Len() > 0:
			return nil, errors.New("bytes after what is packed")
		}
		body = all
	}
	p.add(body)
	return body, nil
}

// errPlain ends an exchange about packing, because servers need not support packing.
var errPlain = errors.New("the server packs nothing")

// packs, after a welcome, starts packing if the server agreed to it.
func packs(c *caller) error {
	switch c.deflate {
	case 0:
		return errPlain
	case 1:
		c.out, c.in = newPast(), newPast()
		return nil
	}
	return fmt.Errorf("the welcome says deflate %d, and hello 1", c.deflate)
}

// sent returns a body as the caller sends it.
func (c *caller) sent(body []byte) []byte {
	switch {
	case c.out == nil:
		return frame(body)
	case c.bare:
		c.out.add(body)
		return frame(body)
	}
	return frame(c.out.pack(body))
}

// unpacked sends a frame without packing it, which is allowed in a packed session.
func unpacked(s step) step {
	return func(c *caller) error {
		c.bare = true
		defer func() { c.bare = false }()
		return s(c)
	}
}

// damaged sends a packed ping that the function `harm` has changed.
func damaged(harm func([]byte) []byte) step {
	return func(c *caller) error {
		c.s++
		return c.write(frame(harm(c.out.pack(pack(nil, fields{"t", "ping", "s", c.s})))))
	}
}

func deflated() []exchange {
	offers := func(more ...any) step {
		return say("hello", with(append([]any{"v", 2, "speaks", list{2}, "name", "packed", "deflate"}, more...)...))
	}
	greeted := chain(offers(1), hear("welcome"), step(packs))
	of := func(n int) any {
		return raw("\xdb" + string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + string(make([]byte, n)))
	}
	const whole = 64 << 10
	around := len(pack(nil, fields{"t", "ping", "s", 2, "x", of(0)})) // size of a ping with an empty x
	subscribe := []step{say("subscribe", with("most", 600)), hear("okay"), hear("clusters"), hear("change")}
	all := []exchange{
		{"packed", chain(greeted, alive, subscribe, asks(), hear("start"), asks(), refused("state", ""), withdrawn)},
		{"packed and not", chain(greeted, unpacked(say("ping", nil)), hear("pong"), alive, unpacked(say("list", nil)), hear("clusters"), alive)},
		{"packed, and come back", chain(greeted, subscribe, step(again),
			say("hello", func(c *caller) fields {
				return fields{"v", 2, "speaks", list{2}, "app", c.app, "have", 0, "deflate", 1}
			}),
			hear("welcome"), step(packs), hear("change"), alive, withdrawn)},
		{"packed once, and not when it comes back", chain(greeted, subscribe, step(again),
			say("hello", func(c *caller) fields { return fields{"v", 2, "speaks", list{2}, "app", c.app, "have", 0} }),
			hear("welcome"), hear("change"), alive, withdrawn)},
		{"packed by a way of later", chain(offers(1000), hear("welcome"), step(packs), alive)},
		{"deflate below 0", chain(offers(-1), refused("frame", "deflate"), closed)},
		{"deflate that is no number", chain(offers("yes"), refused("frame", "deflate"), closed)},
		{"packed, and not offered", chain(hello, hear("welcome"), bytesOf(frame(newPast().pack(pack(nil, fields{"t", "ping", "s", 2})))), refused("frame", ""), closed)},
		{"packed, as long as it may be", chain(greeted, say("ping", with("x", of(whole-around))), hear("pong"), alive)},
		{"packed, a byte too long", chain(greeted, say("ping", with("x", of(whole-around+1))), refused("size", ""), closed)},
		{"a bomb", chain(greeted, say("ping", with("x", of(16<<20))), refused("size", ""), closed)},
		{"packed, too long as it is sent", chain(greeted, bytesOf([]byte{0, 1, 0, 1}), refused("size", ""), closed)},
		{"packed twice", chain(greeted, body(raw(newPast().pack([]byte("\xc0")))), refused("frame", ""), closed)},
		{"packed, of no message", chain(greeted, body(list{1}), refused("frame", ""), closed)},
	}
	for name, harm := range map[string]func([]byte) []byte{
		"packed, and cut":           func(b []byte) []byte { return b[:len(b)-1] },
		"packed, and nothing of it": func([]byte) []byte { return []byte{0xc1} },
		"packed, and bytes after":   func(b []byte) []byte { return append(b, 0) },
		"packed, and no deflate":    func([]byte) []byte { return []byte{0xc1, 0xff, 0xff, 0xff} },
		"packed, of what never was": func([]byte) []byte {
			var far past
			for i := range 5000 {
				far = strconv.AppendInt(append(far, ' '), int64(i*i), 10)
			}
			far = far[len(far)-30_000:] // the repetition begins farther back than the dictionary
			return far.pack(far[:200])
		},
	} {
		all = append(all, exchange{name, chain(greeted, damaged(harm), refused("frame", ""), closed)})
	}
	return all
}
