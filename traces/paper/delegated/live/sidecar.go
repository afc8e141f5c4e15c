package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"accordion/traces/paper/delegated"
)

// sidecar is the process of accordion serve.
type sidecar struct {
	command *exec.Cmd
	socket  string
	metrics string        // address of its metrics
	ended   chan struct{} // closed at the end of the process
	status  error         // the process's error, after its end
	last    string        // last line of its log; if the sidecar fails, this line says why
}

// configure writes the configuration files, and returns the path of the list of clusters.
func (l Live) configure(folder string) (string, error) {
	list := &bytes.Buffer{}
	// The launchers' deadlines are real seconds at any pace, so they are multiplied by the pace.
	most := func(seconds, limit int) int { return min(seconds*l.Pace, limit) }
	fmt.Fprintf(list, "[delegate]\njournal = %q\nfair_start = \"%ds\"\ntimer = \"%ds\"\napplications = 100000\nanswer = \"%ds\"\ngrace = \"%ds\"\nbring_up = \"%ds\"\n",
		filepath.Join(folder, "delegate.db"), fairStart, timer, most(30, 3600), most(60, 86400), most(30, 600))
	for c := range l.Clusters {
		name := "c" + strconv.Itoa(c+1)
		path := filepath.Join(folder, name+".toml")
		metrics := ""
		if c == 0 {
			address, err := free()
			if err != nil {
				return "", err
			}
			metrics = fmt.Sprintf("[metrics]\nlisten = %q\n", address)
		}
		text := fmt.Sprintf("system = \"embedded\"\n[embedded]\nnodes = %d\npace = %d\n[journal]\npath = %q\n[session]\nsocket = %q\nmax_sessions = 100000\n[log]\nformat = \"json\"\n%s",
			delegated.Hosts, l.Pace, filepath.Join(folder, name+".db"), filepath.Join(folder, name+".sock"), metrics)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		fmt.Fprintf(list, "[[cluster]]\nconfig = %q\nname = %q\nspeed = %.1f\n", path, name, 1+0.1*float64(c))
	}
	path := filepath.Join(folder, "accordion.toml")
	return path, os.WriteFile(path, list.Bytes(), 0o600)
}

// free returns a free address. If another program takes it first, the sidecar does not start, and logs why.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("an address for the metrics: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// serve starts a sidecar for the clusters, and returns when it accepts launchers.
func (l Live) serve(ctx context.Context, folder string) (*sidecar, error) {
	list, err := l.configure(folder)
	if err != nil {
		return nil, err
	}
	s := &sidecar{socket: filepath.Join(folder, "c1.sock"), ended: make(chan struct{})}
	s.command = program(l.Program, "serve", "--config", list)
	log, err := s.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go func() {
		s.read(log, l.Clusters, ready)
		s.status = s.command.Wait()
		close(s.ended)
	}()
	select {
	case <-ready:
		// The clusters show their first states after their first cycles.
		err = pause(ctx, time.Second)
	case <-s.ended:
		err = fmt.Errorf("accordion serve ended before it served: %s", s.last)
	case <-time.After(patience):
		err = fmt.Errorf("accordion serve did not begin within %v", patience)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// read reads the log to its end. It closes ready when all clusters are served.
func (s *sidecar) read(log io.Reader, clusters int, ready chan struct{}) {
	left := clusters + 2 // messages to wait for: one per cluster, one for the metrics, and one for the launchers' socket
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Message string `json:"@message"`
			Address string
		}
		s.last = lines.Text()
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch line.Message {
		case "metrics are served":
			s.metrics = line.Address
		case "accordion serves", "launchers are served":
		default:
			continue
		}
		if left--; left == 0 {
			close(ready)
		}
	}
	io.Copy(io.Discard, log) // the log had a line that is too long; reading on keeps the process from blocking
}

// end ends the process by a signal, or by SIGKILL if it does not react to the signal.
func (s *sidecar) end() error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		s.command.Process.Signal(signal) // an error means that it has ended
		select {
		case <-s.ended:
			if s.status != nil && signal == syscall.SIGTERM {
				return fmt.Errorf("accordion serve: %w: %s", s.status, s.last)
			}
			return nil
		case <-time.After(patience):
		}
	}
	return errors.New("accordion serve does not end")
}

// ticks is the number of clock ticks per second in which /proc gives times, on every Linux.
const ticks = 100

// used returns the process's processor time in seconds.
func (s *sidecar) used() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("the processor time of accordion serve: %w", err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the process's name may have spaces
	fields := strings.Fields(rest)
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("the processor time of accordion serve: %q has no such field", text)
	}
	u, err1 := strconv.ParseInt(fields[user], 10, 64)
	k, err2 := strconv.ParseInt(fields[system], 10, 64)
	return float64(u+k) / ticks, errors.Join(err1, err2)
}

var bytesLine = regexp.MustCompile(`(?m)^accordion_launcher_message_bytes_total\{.*type="([^"]*)".*\} (\S+)$`)

// bytes returns the bytes of all messages in both directions, by type.
func (s *sidecar) bytes(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.metrics, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the metrics of accordion serve: %w", err)
	}
	defer answer.Body.Close()
	const most = 16 << 20
	page, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err != nil {
		return nil, fmt.Errorf("the metrics of accordion serve: %w", err)
	}
	all := map[string]int64{}
	for _, m := range bytesLine.FindAllSubmatch(page, -1) {
		n, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return nil, fmt.Errorf("the metrics of accordion serve: %w", err)
		}
		all[string(m[1])] += int64(n)
	}
	return all, nil
}
