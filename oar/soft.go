package oar

import (
	"context"
	"fmt"
	"strings"
)

// soft says whose jobs OAR plans before ours, and which may so take nodes that were promised to a running job for its growth.
func (s *System) soft(ctx context.Context) (string, error) {
	ours, there, err := s.db.Queue(ctx, s.queue)
	if err != nil || !there {
		return "", err
	}
	above, err := s.db.Above(ctx, s.queue, ours.Priority)
	if err != nil || len(above) == 0 {
		return "", err
	}
	return fmt.Sprintf("OAR plans the jobs of %s not after those of %s (priority %d), and may give them nodes that were promised",
		strings.Join(above, ", "), s.queue, ours.Priority), nil
}
