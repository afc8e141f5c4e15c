package core_test

import (
	"encoding/json"
	"slices"
	"testing"

	"accordion/core"
)

func TestAProfileIsPairsInJSON(t *testing.T) {
	ep := core.EP{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}}
	text, err := json.Marshal(ep)
	if err != nil || string(text) != "[[500,5],[3600,10]]" {
		t.Errorf("written %s, %v", text, err)
	}
	var back core.EP
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back, ep) {
		t.Errorf("read back %v, %v", back, err)
	}
	for _, wrong := range []string{"[[1]]", "[[1,2,3]]", "[1,2]", `[["1",2]]`, "[[1.5,2]]", "[[99999999999999999999,1]]", `[{"duration":1}]`} {
		if err := json.Unmarshal([]byte(wrong), &back); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}
