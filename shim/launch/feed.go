package launch

import "io"

// feed copies the input to every pipe, as srun copies it to every task, and closes the pipes at the end of the input. It closes the pipe of
// a part that has ended earlier, and stops reading when no pipe is left.
func feed(in io.Reader, pipes []io.WriteCloser) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := in.Read(buffer)
		open := 0
		for i, p := range pipes {
			if p == nil {
				continue
			}
			if _, err := p.Write(buffer[:n]); err != nil {
				p.Close()
				pipes[i] = nil
				continue
			}
			open++
		}
		if err != nil || open == 0 {
			break
		}
	}
	for _, p := range pipes {
		if p != nil {
			p.Close()
		}
	}
}
