package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// makeLink creates a link to the program in the folder where OAR looks for schedulers.
func (s Setup) makeLink(context.Context, setupStore) (string, error) {
	link := filepath.Join(s.OARDir, "schedulers", SchedulerName)
	to, err := os.Readlink(link)
	switch {
	case err == nil && to == s.Program:
		return fmt.Sprintf("there: scheduler %s", link), nil
	case err == nil:
		if err := os.Remove(link); err != nil {
			return "", fmt.Errorf("mending the scheduler's link: %w", err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("making the scheduler's link: %s is there and not a link: remove it: %w", link, err)
	}
	if err := os.Symlink(s.Program, link); err != nil {
		return "", fmt.Errorf("making the scheduler's link: %w", err)
	}
	if to != "" {
		return fmt.Sprintf("mended: scheduler %s is %s now, it was %s", link, s.Program, to), nil
	}
	return fmt.Sprintf("made: scheduler %s (%s)", link, s.Program), nil
}

func (s Setup) removeLink(context.Context, setupStore) (string, error) {
	link := filepath.Join(s.OARDir, "schedulers", SchedulerName)
	if _, err := os.Readlink(link); errors.Is(err, os.ErrNotExist) {
		return "not there: scheduler " + link, nil
	} else if err != nil {
		return "", fmt.Errorf("removing the scheduler's link: %s is not a link and was left: %w", link, err)
	}
	if err := os.Remove(link); err != nil {
		return "", fmt.Errorf("removing the scheduler's link: %w", err)
	}
	return "removed: scheduler " + link, nil
}

func (s Setup) makeQueue(ctx context.Context, d setupStore) (string, error) {
	q, there, err := d.Queue(ctx, s.Queue)
	if err != nil {
		return "", err
	}
	off := ""
	if q.State == "notActive" {
		off = fmt.Sprintf("; it is switched off: oarnotify -e %s switches it on", s.Queue)
	}
	switch {
	case !there:
		priority := s.Priority
		if priority == AsItIs {
			priority = DefaultPriority
		}
		query := fmt.Sprintf("INSERT INTO queues (queue_name, priority, scheduler_policy) VALUES (%s, %d, %s)", d.Arg(1), priority, d.Arg(2))
		if _, err := d.Sql.ExecContext(ctx, query, s.Queue, SchedulerName); err != nil {
			return "", fmt.Errorf("making the queue %s: %w", s.Queue, err)
		}
		return fmt.Sprintf("made: queue %s (priority %d)", s.Queue, priority), nil
	case q.Policy != SchedulerName:
		return "", fmt.Errorf("the queue %s is there, with the scheduler %s: name another (--queue), or remove it (oarnotify --remove-queue %s)", s.Queue, q.Policy, s.Queue)
	case s.Priority != AsItIs && s.Priority != q.Priority:
		query := fmt.Sprintf("UPDATE queues SET priority = %d WHERE queue_name = %s", s.Priority, d.Arg(1))
		if _, err := d.Sql.ExecContext(ctx, query, s.Queue); err != nil {
			return "", fmt.Errorf("changing the queue %s: %w", s.Queue, err)
		}
		return fmt.Sprintf("mended: queue %s has the priority %d now, it was %d%s", s.Queue, s.Priority, q.Priority, off), nil
	}
	return fmt.Sprintf("there: queue %s (priority %d)%s", s.Queue, q.Priority, off), nil
}

func (s Setup) removeQueue(ctx context.Context, d setupStore) (string, error) {
	q, there, err := d.Queue(ctx, s.Queue)
	if err != nil {
		return "", err
	}
	if !there {
		return "not there: queue " + s.Queue, nil
	}
	if q.Policy != SchedulerName {
		return fmt.Sprintf("not there: queue %s with this scheduler: it has %s, and was left alone", s.Queue, q.Policy), nil
	}
	if err := s.empty(ctx, d); err != nil { // jobs that were submitted meanwhile would be in no queue
		return "", fmt.Errorf("removing the queue %s: %w", s.Queue, err)
	}
	if _, err := d.Sql.ExecContext(ctx, "DELETE FROM queues WHERE queue_name = "+d.Arg(1), s.Queue); err != nil {
		return "", fmt.Errorf("removing the queue %s: %w", s.Queue, err)
	}
	return "removed: queue " + s.Queue, nil
}
