package output

import (
	"slices"
	"testing"
)

// stepsAfterARestart is the output of 22.05's scontrol some seconds after a restart of slurmctld.
const stepsAfterARestart = `StepId=2.extern UserId=40400 StartTime=1795882347 TimeLimit=UNLIMITED State=RUNNING Partition=main NodeList=n[1-2] Nodes=2 CPUs=0 Tasks=2 Name=extern Network=(null)
StepId=2.batch UserId=40400 StartTime=1795882347 TimeLimit=UNLIMITED State=RUNNING Partition=main NodeList=n1 Nodes=1 CPUs=0 Tasks=1 Name=batch Network=(null)
StepId=2.0 UserId=40400 StartTime=1795882348 TimeLimit=UNLIMITED State=RUNNING Partition=main NodeList=n1 Nodes=1 CPUs=1 Tasks=1 Name=a State=PENDING Network=(null)
StepId=2.TDB UserId=40400 StartTime=Unknown TimeLimit=UNLIMITED State=PENDING Partition=main NodeList=n[1-2] Nodes=2 CPUs=2 Tasks=2 Name=(null) Network=(null)
`

func TestStepsOfAJobAreItsPrograms(t *testing.T) {
	for _, c := range []struct {
		name, text string
		begun      []int64
		waits      bool
	}{
		{"one runs and one waits", stepsAfterARestart, []int64{1795882348}, true},
		{"another job's", "StepId=21.0 StartTime=5 State=RUNNING\nStepId=21.TBD StartTime=Unknown State=PENDING\n", nil, false},
		{"an interactive one", "StepId=2.interactive StartTime=5 State=RUNNING\n", nil, false},
		{"none", "No job steps in the system\n", nil, false},
		{"one without a time", "StepId=2.0 StartTime=Unknown State=RUNNING\nStepId=2.1 StartTime=7 State=RUNNING\n", []int64{7}, false},
	} {
		if got := Programs(c.text, 2); !slices.Equal(got.Begun, c.begun) || got.Waits != c.waits {
			t.Errorf("%s: %+v, want %v and %t", c.name, got, c.begun, c.waits)
		}
	}
}
