package packed

// Window is how much of what went before a frame its dictionary holds, in bytes. It is part of the protocol.
const Window = 1024

// past is the end of what went in one direction: first Dictionary, then one message after the other. The zero value is its beginning.
type past struct{ kept []byte }

// dictionary is what the next frame may refer to. It is good until the next add.
func (p *past) dictionary() []byte {
	if p.kept == nil {
		return []byte(Dictionary)
	}
	return p.kept
}

// add lets a message be the last that went.
func (p *past) add(message []byte) {
	if p.kept == nil {
		p.kept = append(make([]byte, 0, Window), Dictionary...)
	}
	if n := len(message); n < Window {
		over := max(0, len(p.kept)+n-Window)
		p.kept = append(p.kept[:copy(p.kept, p.kept[over:])], message...)
		return
	}
	p.kept = append(p.kept[:0], message[len(message)-Window:]...)
}
