package embedded

import (
	"context"
	"fmt"

	"accordion/adapter"
	"accordion/core"
)

var _ adapter.JobSubmitter = (*System)(nil)

// Make implements adapter.JobSubmitter. The job runs until it reaches its time limit or is ended.
func (s *System) Make(ctx context.Context, application int64, user string, hosts int, limit core.Time) (key adapter.Key, err error) {
	err = s.do(ctx, Call{Verb: "Make"}, func() error {
		mark := adapter.LaunchMark(application)
		for _, j := range s.jobs {
			if j.state == adapter.Pending && j.mark == mark && j.spec.Comment == "" && j.spec.User == user {
				key = j.key
				return nil
			}
		}
		spec := JobSpec{Name: fmt.Sprintf("application %d", application), User: user, Nodes: hosts, Tasks: hosts, Limit: limit}
		if err := spec.check(len(s.nodes)); err != nil {
			return err
		}
		j := s.add(spec)
		j.held, j.mark = true, mark
		key = j.key
		return nil
	})
	return key, err
}
