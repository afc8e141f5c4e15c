package swf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/ep"
)

// profileKey begins the header lines with the requested profiles of evolving jobs:
//
//	; EP: 17 4x1h,8x30m
//
// Job 17 requested 4 processors for an hour, then 8. Its record has the peak as requested processors and the total as requested time, so that
// other tools see a rigid job of this size.
const profileKey = "EP"

// parseProfile parses "17 4x1h,8x30m".
func parseProfile(text string) (number int64, requested core.EP, err error) {
	job, profile, _ := strings.Cut(text, " ")
	number, err = strconv.ParseInt(job, 10, 64)
	if err != nil || number < 0 || number > MaxValue {
		return 0, nil, fmt.Errorf("%s is no job number; write EP: 17 4x1h,8x30m", core.Shown(job))
	}
	requested, err = ep.Parse(profile)
	var wrong *core.SyntaxError
	if errors.As(err, &wrong) {
		return 0, nil, fmt.Errorf("job %d: %w", number, wrong)
	}
	return number, requested, err
}

// profileNote explains the EP lines in the log.
const profileNote = " Note: EP lines give an evolving job's number and the steps it asked for, processors x duration"
