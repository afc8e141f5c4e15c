package swf

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A header as in the archive's logs.
const header = `; Version: 2.2
;Computer: Compaq DS10L 1U servers
; Copyright: Data Usage Agreement:
;   This Job Trace Repository is brought to you
;   by a leading-edge site.
; Information: http://www.tc.cornell.edu/
;              http://www.cs.huji.ac.il/labs/parallel/workload/
; MaxNodes: 338 (batch partition; 512 total)
; MaxProcs: -1
; MaxProcs: 512
; UnixStartTime: 835823160
; TimeZone: -18000
; TimeZoneString: US/Eastern
; Queue:  1 DSI
; Queue:  2 astro
;
; Note: Curie is composed of 3 types of nodes,
;	see: http://www-hpc.cea.fr/
; Note: THIS IS A CLEANED VERSION
; plain remark
; My Own Field : 7
`

func headerOf(t *testing.T, text string) Header {
	t.Helper()
	log, err := Read(strings.NewReader(text), "a.swf", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return log.Header
}

func TestHeaderFields(t *testing.T) {
	h := headerOf(t, header)
	for key, want := range map[string][]string{
		"version":      {"2.2"},
		"Computer":     {"Compaq DS10L 1U servers"},
		"Copyright":    {"Data Usage Agreement: This Job Trace Repository is brought to you by a leading-edge site."},
		"Information":  {"http://www.tc.cornell.edu/ http://www.cs.huji.ac.il/labs/parallel/workload/"},
		"Queue":        {"1 DSI", "2 astro"},
		"NOTE":         {"Curie is composed of 3 types of nodes, see: http://www-hpc.cea.fr/", "THIS IS A CLEANED VERSION"},
		"My Own Field": {"7"},
		"see":          nil,
		"http":         nil,
		"MaxRecords":   nil,
	} {
		if diff := cmp.Diff(want, h.All(key)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", key, diff)
		}
	}
	if start, ok := h.UnixStart(); start != 835823160 || !ok {
		t.Errorf("the log begins at %d, %v", start, ok)
	}
	if zone := h.Location(); time.Unix(835823160, 0).In(zone).Format(time.TimeOnly) != "17:06:00" {
		t.Errorf("the time zone is %v", zone)
	}
}

func TestMachineIsTheFirstKnownNumber(t *testing.T) {
	for text, want := range map[string]int{
		header:                               512,
		"; MaxNodes: 338 (batch; 512 all)":   338,
		"; MaxProcs: 9216\n; MaxNodes: 1152": 9216,
		"; MaxNodes: 1152\n; MaxProcs: 9216": 9216,
		"; MaxNodes: 1152\n; MaxProcs: N/A":  1152,
		"; MaxProcs: -1":                     0,
		"; MaxProcs: 0":                      0,
		"; MaxProcs:":                        0,
		"; MaxProcs: 99999999999":            0,
		"; MaxProcs: 99999999999999999999":   0,
		"; Note: MaxProcs: 7":                0,
		// found/06: all lines are indented, so that the first line is not a continuation.
		";    Version: 2.2\n;    MaxProcs: 1024":                  1024,
		";\tMaxProcs:\t1024":                                      1024,
		";; MaxProcs: 1024":                                       1024,
		"; Version: 2.2\n;    MaxProcs: 1024":                     1024,
		"; Note: see\n;   the paper: a link\n;   maxprocs : 1024": 1024,
		"; MaxProcs: 1,024":                                       1024,
		"; MaxProcs: 1'234'567":                                   1234567,
		"; MaxProcs: 1_024":                                       1024,
		"; MaxProcs: 1e3":                                         1000,
		"; MaxProcs: 1.024E+3":                                    1024,
		"; MaxProcs: 1024.0":                                      1024,
		"; MaxProcs: 1024, in 512 nodes":                          1024,
		"; MaxProcs: 1024(512 nodes)":                             1024,
		"; MaxProcs: 1024 procs; 512 nodes":                       1024,
	} {
		h := headerOf(t, text)
		if got, ok := h.Machine(); got != want || ok != (want > 0) {
			t.Errorf("%q: the machine is %d, %v; want %d", text, got, ok, want)
		}
	}
}

// found/06. A line that is indented further continues the one above.
func TestIndentedHeaderHasFields(t *testing.T) {
	for _, indent := range []string{"   ", "\t", " \t "} {
		h := headerOf(t, strings.ReplaceAll("; My Own Field: 7\n; Site: a cluster\n;      of nodes: many\n; Other : 8\n", "; ", ";"+indent))
		for key, want := range map[string][]string{"My Own Field": {"7"}, "Site": {"a cluster of nodes: many"}, "Other": {"8"}, "of nodes": nil} {
			if diff := cmp.Diff(want, h.All(key)); diff != "" {
				t.Errorf("%q, %s (-want +got):\n%s", indent, key, diff)
			}
		}
		before := len(h.Lines)
		h.Set("Site", "another")
		if site, _ := h.Get("Site"); site != "another" || len(h.Lines) != before-1 {
			t.Errorf("%q: after setting it: %q", indent, h.Lines)
		}
	}
}

// A log with the size "1 024" is never replayed on a machine of one node, although the text begins with 1.
func TestUnreadableSizeIsAnErrorWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"; MaxProcs: 1 024":                    "MaxProcs: 1 024",
		"; MaxProcs: 1.024":                    "MaxProcs: 1.024",
		"; MaxProcs: 1,02":                     "MaxProcs: 1,02",
		"; MaxProcs: 1,024'000":                "MaxProcs: 1,024'000",
		"; MaxProcs: 1k":                       "MaxProcs: 1k",
		"; MaxProcs: 512x2":                    "MaxProcs: 512x2",
		"; MaxProcs: 1e-3":                     "MaxProcs: 1e-3",
		"; MaxProcs: 1e999":                    "MaxProcs: 1e999",
		"; MaxProcs: about 1024":               "MaxProcs: about 1024",
		"; MaxProcs: 99999999999":              "MaxProcs: 99999999999",
		"; MaxProcs: 1 024\n; MaxNodes: 512":   "MaxProcs: 1 024",
		"; MaxProcs: -1\n; MaxNodes: 2 * 512":  "MaxNodes: 2 * 512",
		"; MaxProcs = 1024":                    "MaxProcs = 1024",
		"; Version: 2.2\n; Max Nodes 1024":     "Max Nodes 1024",
		"; MaxProcs: -1":                       "",
		"; MaxProcs: N/A\n; MaxNodes: unknown": "",
		"; 4 racks were not in MaxProcs":       "",
	} {
		h := headerOf(t, text)
		n, err := h.MachineSize()
		var wrong *SizeError
		got := ""
		if errors.As(err, &wrong) {
			got = wrong.Line
		}
		if n != 0 || got != want {
			t.Errorf("%q: %d, %q is refused; want %q", text, n, got, want)
		}
	}
}

func TestHeaderNumbersAreAllParsedAlike(t *testing.T) {
	h := headerOf(t, ";   UnixStartTime: 1,000,000,000\n;   MaxRecords: 1e3\n")
	start, ok := h.UnixStart()
	if records, known := h.Number("MaxRecords"); start != 1_000_000_000 || !ok || records != 1000 || !known {
		t.Errorf("it begins at %d, %v and has %d records, %v", start, ok, records, known)
	}
}

// FuzzHeader checks that any header gives a machine size, none, or an error, and that Get returns what Set has set.
func FuzzHeader(f *testing.F) {
	f.Add(header)
	f.Add(";\tMaxProcs:\t1,024\n;; MaxNodes: 1e3\n; Max Procs 7\n")
	f.Fuzz(func(t *testing.T, text string) {
		h := Header{Lines: strings.Split(text, "\n")}
		n, err := h.MachineSize()
		if known, ok := h.Machine(); known != n || ok != (n > 0) || err != nil && n != 0 || n < 0 {
			t.Fatalf("%q: %d, %v; Machine has %d, %v", text, n, err, known, ok)
		}
		h.Set("MaxProcs", "77")
		if n, err := h.MachineSize(); n != 77 || err != nil {
			t.Fatalf("%q: after setting it, it is %d, %v: %q", text, n, err, h.Lines)
		}
	})
}

func TestUnknownZoneFallsBackToItsOffset(t *testing.T) {
	for text, want := range map[string]string{
		"; TimeZone: 3600\n; TimeZoneString: Europe/Atlantis": "01:00:00",
		"; TimeZone: -3600":                              "23:00:00",
		"; TimeZone: 99999999":                           "00:00:00",
		"; TimeZone: US/Pacific":                         "16:00:00",
		"; TimeZone: Local":                              "00:00:00",
		"; TimeZoneString: UNKNOWN\n; TimeZone: UNKNOWN": "00:00:00",
		"; x":                     "00:00:00",
		"; TimeZoneString: Local": "00:00:00",
	} {
		h := headerOf(t, text)
		if got := time.Unix(0, 0).In(h.Location()).Format(time.TimeOnly); got != want {
			t.Errorf("%q: the epoch is at %s, want %s", text, got, want)
		}
	}
}

func TestSetKeepsOtherFields(t *testing.T) {
	h := headerOf(t, header)
	before := slices.Clone(h.Lines)
	h.Set("information", "none")
	h.Set("MaxProcs", "64")
	h.Set("MaxRecords", "7")
	want := slices.Clone(before)
	want[5] = " information: none"
	want[8] = " MaxProcs: 64"
	want = append(slices.Delete(slices.Delete(want, 9, 10), 6, 7), " MaxRecords: 7")
	if diff := cmp.Diff(want, h.Lines); diff != "" {
		t.Errorf("the header differs (-want +got):\n%s", diff)
	}
}

func TestParseDate(t *testing.T) {
	var dated, undated Header
	dated.Set("UnixStartTime", "1166400000") // 2006-12-18 00:00 UTC
	for _, c := range []struct {
		header        *Header
		text          string
		second        int64
		known, isDate bool
	}{
		{&dated, "2006-12-18", 0, true, true},
		{&dated, "2006-12-19T01:30", 86400 + 5400, true, true},
		{&dated, "2006-12-17T23:59:59", -1, true, true},
		{&undated, "2006-12-18", 1166400000, false, true},
		{&dated, "36h", 0, false, false},
		{&dated, "2006-13-18", 0, false, false},
	} {
		second, known, isDate := c.header.ParseDate(c.text)
		if second != c.second || known != c.known || isDate != c.isDate {
			t.Errorf("%s: second %d, known %v, a date %v; want %d, %v, %v", c.text, second, known, isDate, c.second, c.known, c.isDate)
		}
	}
}
