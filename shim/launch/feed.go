package launch

import "io"

// feed copies what is read to every pipe, as srun gives it to every task, and closes them at its end. A part that has ended takes no
// more; when none is left nothing is read any more.
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
