package chart_test

import (
	"bytes"
	"strings"
	"testing"

	"accordion/traces/paper/chart"
	"accordion/traces/paper/chart/charttest"
)

func TestLongTitleIsWholeOnThePage(t *testing.T) {
	const title = "Figure 9-indexed: million steps of the indexed board, beside the operations of the RMS"
	p := chart.New(title)
	p.X.Max, p.Y.Max = 1, 5_000_000
	var out bytes.Buffer
	if err := chart.Write(p, &out); err != nil {
		t.Fatal(err)
	}
	for _, fault := range charttest.Faults(out.Bytes()) {
		t.Error(fault)
	}
	for _, word := range strings.Fields(title) {
		if !strings.Contains(out.String(), word) {
			t.Errorf("%q of the title is missing", word)
		}
	}
	if !strings.Contains(out.String(), ">5000000</text>") {
		t.Error("the axis does not name 5000000")
	}
}

func TestNamesOfManyPlacesDoNotRunTogether(t *testing.T) {
	p := chart.New("Figure 7")
	names := strings.Fields("1 2.15 4.64 10 21.5 46.4 100 215 464 1000 2150 4640 10000 21500 46400 100000 215000 464000 1000000")
	chart.Nominal(p, names)
	p.X.Max, p.Y.Max = float64(len(names)-1), 1
	var out bytes.Buffer
	if err := chart.Write(p, &out); err != nil {
		t.Fatal(err)
	}
	for _, fault := range charttest.Faults(out.Bytes()) {
		t.Error(fault)
	}
	if !strings.Contains(out.String(), ">10000</text>") {
		t.Error("the axis does not name 10000")
	}
}
