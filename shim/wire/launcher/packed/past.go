package packed

// Window is how many bytes of earlier messages a dictionary has. It is part of the protocol.
const Window = 1024

// past has the last bytes of the data in one direction. The data is Dictionary, followed by the messages. The zero value is the state
// before the first message.
type past struct{ kept []byte }

// dictionary returns the dictionary of the next frame. It is valid until the next add.
func (p *past) dictionary() []byte {
	if p.kept == nil {
		return []byte(Dictionary)
	}
	return p.kept
}

// add appends a message.
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
