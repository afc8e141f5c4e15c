package selector

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"accordion/core"
	"accordion/core/moldable"

	"github.com/kballard/go-shellquote"
)

// answerPatience is how long a program may take for a view (docs/launch.md).
const answerPatience = 30 * time.Second

// mostLine is the longest line from a program, in bytes.
const mostLine = 1 << 20

func parseExec(text string) (Model, error) {
	words, err := shellquote.Split(text)
	if err != nil {
		return Model{}, fmt.Errorf("exec:%s: %w", text, err)
	}
	if len(words) == 0 {
		return Model{}, errors.New("exec: names no program: write exec:COMMAND, such as exec:./selector.py")
	}
	return Model{command: words}, nil
}

// shown is a view as a program reads it.
type shown struct {
	V        int            `json:"v"`
	Now      core.Time      `json:"now"`
	Version  int64          `json:"version"`
	Estimate *core.Time     `json:"estimate"`
	Most     core.Time      `json:"most,omitempty"`
	Clusters []shownCluster `json:"clusters"`
}

type shownCluster struct {
	Name    string             `json:"name"`
	Hosts   int                `json:"hosts"`
	Cores   int                `json:"cores,omitempty"`   // cores of a host; the next three fields are also for one host
	Memory  int64              `json:"mem,omitempty"`     // MiB
	Scratch int64              `json:"scratch,omitempty"` // MiB
	Arch    string             `json:"arch,omitempty"`
	Speed   float64            `json:"speed"`
	Site    string             `json:"site"`
	Latency map[string]float64 `json:"latency_ms"`
	Busy    [][3]any           `json:"busy"`
}

// lineOf returns a view as one line.
func lineOf(s Sight, most core.Time) ([]byte, error) {
	line := shown{V: 1, Now: s.Now, Version: s.View, Most: most, Clusters: []shownCluster{}}
	if s.Estimate != 0 {
		line.Estimate = &s.Estimate
	}
	latencies, speeds, n := s.latencies(), s.speeds(), len(s.Clusters)
	for i, c := range s.Clusters {
		out := shownCluster{Name: c.Name, Hosts: c.Hosts, Cores: c.Cores, Memory: c.Mem, Scratch: c.Scratch, Arch: c.Arch, Speed: speeds[i], Site: c.Site, Latency: map[string]float64{}, Busy: [][3]any{}}
		for j, other := range s.Clusters {
			if j != i {
				out.Latency[other.Name] = latencies[i*n+j] * 1000
			}
		}
		for k, p := range c.Points {
			var to any
			if k+1 < len(c.Points) {
				if to = c.Points[k+1].At; c.Points[k+1].At <= s.Now {
					continue
				}
			}
			if p.Used > 0 {
				out.Busy = append(out.Busy, [3]any{p.At, to, p.Used})
			}
		}
		line.Clusters = append(line.Clusters, out)
	}
	text, err := json.Marshal(line)
	return append(text, '\n'), err
}

// reply is a line from a program.
type reply struct {
	Version  *int64             `json:"version"`
	Request  map[string]float64 `json:"request"`
	Walltime float64            `json:"walltime"`
	Keep     bool               `json:"keep"`
}

// answerOf parses a program's answer to a view. Answers name clusters by their names.
func answerOf(line []byte, s Sight) (version int64, a Answer, err error) {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return 0, Answer{}, err
	}
	switch {
	case r.Version == nil:
		return 0, Answer{}, errors.New(`it has no "version"`)
	case *r.Version != s.View || r.Keep:
		return *r.Version, Answer{Keep: true}, nil
	case !(r.Walltime >= 1 && r.Walltime <= float64(core.MaxTotal)):
		return 0, Answer{}, fmt.Errorf("its walltime is not 1 to %d seconds", core.MaxTotal)
	}
	a.Walltime = core.Time(math.Ceil(r.Walltime))
	for name, hosts := range r.Request {
		i := slices.IndexFunc(s.Clusters, func(c Seen) bool { return c.Name == name })
		switch {
		case i < 0:
			return 0, Answer{}, fmt.Errorf("there is no cluster %s", core.Shown(name))
		case hosts == 0:
			continue
		case hosts < 0 || hosts > float64(s.Clusters[i].Hosts) || hosts != math.Trunc(hosts):
			return 0, Answer{}, fmt.Errorf("%v is no number of hosts of %s, which has %d", hosts, name, s.Clusters[i].Hosts)
		}
		a.Hosts = append(a.Hosts, moldable.Part{Cluster: s.Clusters[i].C, Hosts: int(hosts)})
	}
	if len(a.Hosts) == 0 {
		return 0, Answer{}, errors.New(`it has neither a "request" for at least one host nor "keep":true`)
	}
	slices.SortFunc(a.Hosts, func(a, b moldable.Part) int { return a.Cluster - b.Cluster })
	return s.View, a, nil
}

// program is a Selector that runs another program. It sends each view to the program as a line, and reads each answer as a line.
type program struct {
	views   chan Sight
	answers chan Said
	close   func()
	done    sync.WaitGroup
}

var _ Selector = (*program)(nil)

// startProgram starts a program. Its standard error goes to stderr.
func startProgram(command []string, most core.Time, stderr io.Writer, patience time.Duration) (*program, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Stderr = stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the launcher handles ^C
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("starting the model's program: %w", err)
	}
	p := &program{views: make(chan Sight, 1), answers: make(chan Said)}
	over, ended := make(chan struct{}), make(chan error, 1)
	lines := make(chan []byte)
	p.close = sync.OnceFunc(func() {
		close(over)
		in.Close()
		end(c.Process.Pid, ended, out)
	})
	p.done.Go(func() { ended <- read(c, out, lines, over) })
	p.done.Go(func() { p.converse(in, lines, most, patience, over) })
	return p, nil
}

// endPatience is how long a program may take to end after its input ended, and again after a signal.
const endPatience = 2 * time.Second

// end ends a program by closing its input and then by signals. Finally it stops waiting, because children of the program may have left its
// process group and still hold its output.
func end(pid int, ended <-chan error, out io.Closer) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-ended:
			return
		case <-time.After(endPatience):
			syscall.Kill(-pid, signal)
		}
	}
	select {
	case <-ended:
	case <-time.After(endPatience):
		out.Close()
		<-ended
	}
}

// read sends the program's lines to `lines` until the program ends. A line that is too long ends the reading.
func read(c *exec.Cmd, out io.Reader, lines chan<- []byte, over <-chan struct{}) error {
	scan := bufio.NewScanner(out)
	scan.Buffer(nil, mostLine)
	for scan.Scan() {
		select {
		case lines <- slices.Clone(scan.Bytes()):
		case <-over:
		}
	}
	close(lines)
	if scan.Err() != nil {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	return errors.Join(scan.Err(), c.Wait())
}

// converse passes views to the program, and its answers back.
func (p *program) converse(in io.Writer, lines <-chan []byte, most core.Time, patience time.Duration, over <-chan struct{}) {
	writes := make(chan []byte, 1)
	defer close(writes)
	p.done.Go(func() {
		for line := range writes {
			in.Write(line) // a program that does not read does not answer either, which is detected by a timeout
		}
	})
	var now Sight // the view to be answered
	due := time.NewTimer(time.Hour)
	due.Stop()
	gone := false
	for {
		var said *Said
		select {
		case <-over:
			return
		case now = <-p.views:
			if gone {
				said = &Said{View: now.View, Err: errGone}
				break
			}
			line, err := lineOf(now, most)
			if err != nil {
				said = &Said{View: now.View, Err: err}
				break
			}
			select { // replaces an answer that the launcher has not read yet
			case <-writes:
			default:
			}
			writes <- line
			due.Reset(patience)
		case <-due.C:
			said = &Said{View: now.View, Err: fmt.Errorf("the model's program has not answered view %d within %v", now.View, patience)}
		case line, more := <-lines:
			if !more {
				gone, lines = true, nil
				due.Stop()
				said = &Said{View: now.View, Err: errGone}
				break
			}
			version, answer, err := answerOf(line, now)
			if err == nil && version != now.View {
				break // answers to old versions are ignored
			}
			due.Stop()
			if err != nil {
				err = fmt.Errorf("the model's program says nonsense, %s: %w", shortened(line), err)
			}
			said = &Said{View: now.View, Answer: answer, Err: err}
		}
		if said != nil {
			select {
			case p.answers <- *said:
			case <-over:
				return
			}
		}
	}
}

var errGone = errors.New("the model's program has ended")

func shortened(line []byte) string {
	const most = 60
	if text := strings.TrimSpace(string(line)); len(text) > most {
		return core.Shown(text[:most]) + "…"
	}
	return core.Shown(string(line))
}

// See implements Selector. The view replaces an earlier view that was not sent to the program yet.
func (p *program) See(s Sight) { put(p.views, s) }

// Answers implements Selector.
func (p *program) Answers() <-chan Said { return p.answers }

// Close implements Selector.
func (p *program) Close() {
	p.close()
	p.done.Wait()
}

// put replaces the view in a channel that has a buffer of one. Only one goroutine may call it.
func put(views chan Sight, s Sight) {
	for {
		select {
		case views <- s:
			return
		default:
		}
		select {
		case <-views:
		default:
		}
	}
}
