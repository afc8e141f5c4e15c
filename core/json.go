package core

import (
	"encoding/json"
	"fmt"
)

// MarshalJSON writes a step as [duration, nodes]. A profile reads [[500,5],[3600,10]], as in every file and report of
// the project.
func (s Step) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]int64{s.Duration, int64(s.Nodes)})
}

// UnmarshalJSON reads [duration, nodes]. It accepts any two integers; the caller checks their range.
func (s *Step) UnmarshalJSON(text []byte) error {
	var pair []int64
	if err := json.Unmarshal(text, &pair); err != nil || len(pair) != 2 {
		return fmt.Errorf("step %.40s is not [DURATION, NODES], such as [500, 5]", text)
	}
	s.Duration, s.Nodes = pair[0], int(pair[1])
	return nil
}
