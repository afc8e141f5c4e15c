package number

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"accordion/core"
)

func TestCountsAreReadWithTheirUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "3": 3, "2048": 2048, "2K": 2048, "2k": 2048, "1.50K": 1536, "1.5K": 1536, "2.00K": 2048, "0.00K": 0, "1.95K": 1997, "1M": 1 << 20,
		"1.50M": 3 << 19, "3G": 3 << 30, "2T": 2 << 40, "1P": Most, "7P": Most, "9999999999": 9999999999, "99999999999999999999999": Most,
		"": Unset, "(null)": Unset, "N/A": Unset, "4294967294": Unset, "4294967295": Unset,
	} {
		if got, err := Count(text); err != nil || got != want {
			t.Errorf("count %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"K", "-1", "+1", "NaN", "Inf", "1e9", "0x10", "1_000", "x", "1.K", ".5K", "1.5.0K", "1?", "2KB", "2 K", "1.1234567K", "\x00"} {
		if got, err := Count(text); err == nil {
			t.Errorf("count %q: %d, want an error", text, got)
		}
	}
}

func TestARoundedCountIsKnown(t *testing.T) {
	for text, want := range map[string]bool{"2048": false, "2K": false, "1.50K": false, "1.5M": false, "0.00K": true, "1.00K": true, "1.95K": true, "0.01M": true, "": false} {
		if got := Rounded(text); got != want {
			t.Errorf("%q is rounded: %t, want %t", text, got, want)
		}
	}
}

func TestMemoryIsReadInMegabytes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1500": 1500, "1500M": 1500, "1.50G": 1536, "2T": 2 << 20, "1P": 1 << 30, "2048K": 2, "512K": 0, "4Gc": 4096, "2000n": 2000, "1.5M": 1, "": Unset, "N/A": Unset} {
		if got, err := Memory(text); err != nil || got != want {
			t.Errorf("memory %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"M", "-1M", "NaN", "infM", "1e99G", "2GB", "x", "4Gx", "4cn", "c", "4cG"} {
		if got, err := Memory(text); err == nil {
			t.Errorf("memory %q: %d, want an error", text, got)
		}
	}
}

func TestDurationsOfAnyLengthAreRead(t *testing.T) {
	for text, want := range map[string]int64{
		"00:00": 0, "00:01.500": 1500, "00:01.5": 1500, "59:59.999": 3599999, "5:00": 300e3, "90:00": 5400e3, "01:02:03": 3723e3, "25:00:00": 90000e3,
		"1-02:03:04": 93784e3, "4000-03:14:07": 345611647e3, "1-12": 129600e3, "1-12:30": 131400e3, "365-00:00:00": 31536000e3,
		"1000000-00:00:00.001": 86400000000001, "1157407407-09:46:40": 100000000000000000, "000001:00": 60e3,
	} {
		if got, ok := Duration(text); !ok || got != want {
			t.Errorf("duration %q: %d ms, %t; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "5", "1-", "-1:00", "1:2:3:4", "1-:1:1", "1-24:00:00", "1:60:00", "1:00:60", "00:01.", "00:01.x", "00:01.1234567890", "a:b", ":", "::", "1-5.5", "INVALID",
		"1157407407-09:46:41", "99999999999999999999-00:00:00", "4294967295:00:00:00", "1d", "+1:00", "1:+2", " 1:00", "1:00 ",
	} {
		if got, ok := Duration(text); ok {
			t.Errorf("duration %q: %d ms, want it refused", text, got)
		}
	}
}

func TestALimitMayBeNone(t *testing.T) {
	for text, want := range map[string]core.Time{
		"5:00": 300, "1:00:00": 3600, "1-02:03:04": 93784, "0:30": 30, "365-00:00:00": 365 * 86400,
		"UNLIMITED": core.Forever, "INFINITE": core.Forever, "NOT_SET": core.Forever, "Partition_Limit": core.Forever, "INVALID": core.Forever, "": core.Forever, "N/A": core.Forever,
	} {
		if got, err := Limit(text); err != nil || got != want {
			t.Errorf("limit %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"5", "1:2:3:4", "-1:00", "1-:1:1", "99999999999999999:00", "a:b", "unlimited?"} {
		if got, err := Limit(text); err == nil || got != core.Forever {
			t.Errorf("limit %q: %d, want an error and no limit", text, got)
		}
	}
	for text, want := range map[string]core.Time{"60": 3600, "0": 0, "UNLIMITED": -1, "Partition_Limit": -1, "INVALID": -1, "": -1, "1-00:00:00": -1, "x": -1, "99999999999": -1} {
		if got, ok := MinutesLimit(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("minutes %q: %d, %t; want %d", text, got, ok, want)
		}
	}
}

// requests returns the table of requests that the test of job_submit.lua also reads.
func requests(t testing.TB) [][2]string {
	t.Helper()
	text, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all [][2]string
	for line := range strings.Lines(string(text)) {
		if item, want, ok := strings.Cut(strings.TrimSpace(line), "|"); ok && item[0] != '#' {
			all = append(all, [2]string{strings.TrimSpace(item), strings.TrimSpace(want)})
		}
	}
	return all
}

// devicesOf formats the generic resources of a list as the table does.
func devicesOf(list string) string {
	var all []string
	for r := range Resources(list) {
		if r.Kind == Device {
			all = append(all, fmt.Sprintf("%s %d", r.Name, r.Count))
		}
	}
	return strings.Join(all, ", ")
}

func TestRequestsAreReadAsEveryReleaseWritesThem(t *testing.T) {
	all := requests(t)
	if len(all) < 60 {
		t.Fatalf("the table has %d rows", len(all))
	}
	for _, row := range all {
		if got := devicesOf(row[0]); got != row[1] {
			t.Errorf("%q asks for %q, want %q", row[0], got, row[1])
		}
	}
}

func TestOtherResourcesAreRead(t *testing.T) {
	for list, want := range map[string]string{
		"cpu=8,mem=2000M,node=2,billing=8,gres/gpu=4,gres/gpu:a100=4": "[{cpu  8} {mem  2000} {node  2} {billing  8} {gres gpu 4} {gres gpu:a100 4}]",
		"cpu=2K,mem=1.50G":                    "[{cpu  2048} {mem  1536}]",
		"license/matlab=2,fs/disk=7":          "[{license matlab 2} {fs disk 7}]",
		"cpu:2":                               "[{cpu  2}]",
		"energy":                              "[{energy  1}]",
		"bb/datawarp=10G":                     "[{bb datawarp 10240}]",
		"(null)":                              "[]",
		"gpu:a100:2(IDX:0,2-3),tmp(CNT:1024)": "[{gres gpu:a100 2} {gres tmp 1024}]",
	} {
		if got := fmt.Sprint(slices.Collect(Resources(list))); got != want {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
}

func TestDevicesOfANodeAreCounted(t *testing.T) {
	for list, want := range map[string]string{
		"gpu:4":                                   "map[gpu:4]",
		"gpu:a100:4(S:0-1),tape:2":                "map[gpu:4 gpu:a100:4 tape:2]",
		"gpu:a100:2(S:0,2),gpu:v100:1(S:1,3)":     "map[gpu:3 gpu:a100:2 gpu:v100:1]",
		"tmp:350G,bandwidth:lustre:no_consume:4G": "map[bandwidth:4294967296 bandwidth:lustre:4294967296 tmp:375809638400]",
		"gpu:no_consume:4":                        "map[gpu:4]",
		"fs:2":                                    "map[fs:2]", // in a node's list every item is a generic resource
		"(null)":                                  "map[]",
		"":                                        "map[]",
		"gpu":                                     "map[gpu:1]",
	} {
		if got := fmt.Sprint(Devices(list)); got != want {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
}

// TestWhatWasReportedInPublicIsRead has texts that other programs could not parse. Each is copied from a public
// report, with the address of the report.
func TestWhatWasReportedInPublicIsRead(t *testing.T) {
	duration := func(text string) string {
		ms, ok := Duration(text)
		return fmt.Sprint(ms, ok)
	}
	minutes := func(text string) string {
		s, ok := MinutesLimit(text)
		return fmt.Sprint(s, ok)
	}
	limit := func(text string) string {
		s, err := Limit(text)
		return fmt.Sprint(s == core.Forever, err)
	}
	memory := func(text string) string {
		mb, err := Memory(text)
		return fmt.Sprint(mb, err)
	}
	node := func(list string) string { return fmt.Sprint(Devices(list)) }
	all := func(list string) string { return fmt.Sprint(slices.Collect(Resources(list))) }
	const github = "https://github.com/"
	for _, row := range []struct {
		report string
		read   func(string) string
		text   string
		want   string
	}{
		// Durations.
		{github + "apel/apel/issues/160", duration, "2-01:24:56", "177896000 true"},
		{github + "apel/apel/issues/160", duration, "01:09:48", "4188000 true"},
		{github + "neilmunday/slurm-mail/pull/47", duration, "1:00:00", "3600000 true"},
		{github + "neilmunday/slurm-mail/pull/47", duration, "00:00.018", "18 true"},
		{github + "snakemake/snakemake-executor-plugin-slurm/pull/362", duration, "1-00:00:00.5", "86400500 true"},
		{github + "aws-samples/hpc-cost-simulator/issues/17", duration, "25:34.179", "1534179 true"},
		{github + "DataBiosphere/toil/issues/5433", duration, "3-0:00", "259200000 true"},
		{github + "ROCm/spur/issues/804", duration, "2-12", "216000000 true"},
		{github + "ROCm/spur/issues/804", duration, "4:00", "240000 true"},
		// Texts that mean "no limit".
		{github + "NordicHPC/slurm2sql/pull/4", limit, "Partition_Limit", "true <nil>"},
		{github + "NordicHPC/slurm2sql/issues/5", limit, "UNLIMITED", "true <nil>"},
		{github + "troycomi/reportseff/issues/11", minutes, "Partition_Limit", "0 false"},
		// Counts and amounts with letters.
		{github + "aws-samples/hpc-cost-simulator/issues/17", memory, "0n", "0 <nil>"},
		{github + "aws-samples/hpc-cost-simulator/issues/17", memory, "7714.15M", "7714 <nil>"},
		{github + "aws-samples/hpc-cost-simulator/issues/17", memory, "0.00M", "0 <nil>"},
		{github + "NordicHPC/slurm2sql/issues/17", memory, "8000Mc", "8000 <nil>"},
		{github + "ycrc/seff-array/issues/22", memory, "1Mc", "1 <nil>"},
		{github + "neilmunday/slurm-mail/issues/38", memory, "0c", "0 <nil>"},
		{github + "MatterMiners/tardis/pull/197", all, "gres:disk:2gb", "[{gres disk 2000000000}]"},
		{github + "MatterMiners/tardis/pull/197", all, "gres:disk:2g", "[{gres disk 2147483648}]"},
		// Trackable resources.
		{github + "PrincetonUniversity/jobstats/pull/53", all, "gres/gpu:nvidia_geforce_rtx_2080_ti=1", "[{gres gpu:nvidia_geforce_rtx_2080_ti 1}]"},
		{github + "OSC/ood_core/issues/870", all, "cpu=120,mem=515456M,", "[{cpu  120} {mem  515456}]"},
		{github + "OSC/ood_core/issues/870", all, "cpu=10,mem=100G,node=1,billing=10,gres/gpu=1,gres/gpu:a100=1",
			"[{cpu  10} {mem  102400} {node  1} {billing  10} {gres gpu 1} {gres gpu:a100 1}]"},
		{github + "PySlurm/pyslurm/issues/421", all, "gres/gpu:a100:mig=2", "[{gres gpu:a100:mig 2}]"},
		{github + "skypilot-org/skypilot/pull/10285", all, "gres/gpu=1", "[{gres gpu 1}]"},
		{github + "snakemake/snakemake-executor-plugin-slurm/issues/373", all, "cpu=1,gres/gpu=1", "[{cpu  1} {gres gpu 1}]"},
		{github + "SckyzO/slurm_exporter/issues/35", all, "N/A", "[]"},
		// Generic resources of nodes.
		{github + "basnijholt/slurm-usage/issues/11", node, "gpu:8(S:0-3)", "map[gpu:8]"},
		{github + "CLIP-HPC/SlurmCommander/issues/5", node, "gpu:(null):4(IDX:0-3)", "map[gpu:4]"},
		{github + "NatLabRockies/torc/pull/78", node, "gpu:h100:4(S:0-3)", "map[gpu:4 gpu:h100:4]"},
		{github + "DataDog/integrations-core/pull/24513", node, "gpu:tesla:2,gpu:kepler:2", "map[gpu:4 gpu:kepler:2 gpu:tesla:2]"},
		{github + "DataDog/integrations-core/pull/24513", node, "gpu:tesla:3(IDX:0,4-5)", "map[gpu:3 gpu:tesla:3]"},
		{github + "vpenso/prometheus-slurm-exporter/issues/38", node, "tmp:844G", "map[tmp:906238099456]"},
		{github + "stackhpc/ansible-role-openhpc/pull/155", node, "bandwidth:lustre:no_consume:4G", "map[bandwidth:4294967296 bandwidth:lustre:4294967296]"},
	} {
		if got := row.read(row.text); got != row.want {
			t.Errorf("%q (%s) is read as %s, want %s", row.text, row.report, got, row.want)
		}
	}
}

func TestRangesHaveTwoEnds(t *testing.T) {
	for text, want := range map[string][2]string{"3": {"3", "3"}, "3-5": {"3", "5"}, "2,4,8-16:4": {"2", "16"}, "": {"", ""}, "1K-2K": {"1K", "2K"}} {
		if low, high := RangeEnds(text); [2]string{low, high} != want {
			t.Errorf("%q: %s to %s, want %v", text, low, high, want)
		}
	}
}

// The implementations below parse the same texts slowly and simply. They use regular expressions, and rational
// numbers of any size.

var countForm = regexp.MustCompile(`^([0-9]+)(\.[0-9]{1,6})?([kmgtpKMGTP]?)$`)

// plainCount parses a count with rational numbers. `ok` is false for texts that must be refused.
func plainCount(text string) (n int64, ok bool) {
	if NoValue(text) {
		return Unset, true
	}
	m := countForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	value, _ := new(big.Rat).SetString(m[1] + m[2])
	for range strings.Index(" kmgtp", strings.ToLower(m[3] + " ")[:1]) {
		value.Mul(value, big.NewRat(1024, 1))
	}
	value.Add(value, big.NewRat(1, 2)) // rounds to the nearest whole number
	nearest := new(big.Int).Quo(value.Num(), value.Denom())
	if nearest.Cmp(big.NewInt(Most)) > 0 {
		return Most, true
	}
	return nearest.Int64(), true
}

var durationForm = regexp.MustCompile(`^(?:([0-9]+)-)?([0-9]+)(?::([0-9]+))?(?::([0-9]+))?(\.[0-9]{1,9})?$`)

// plainDuration parses a duration with one regular expression and big numbers.
func plainDuration(text string) (int64, bool) {
	m := durationForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	days, fields := m[1], slices.DeleteFunc([]string{m[2], m[3], m[4]}, func(s string) bool { return s == "" })
	units := []int64{3600, 60, 1}
	switch {
	case days == "" && len(fields) == 1, days != "" && m[5] != "" && len(fields) < 3:
		return 0, false
	case days == "":
		units = units[3-len(fields):]
	}
	sum := new(big.Int)
	part := func(text string, unit int64) *big.Int {
		n, _ := new(big.Int).SetString(text, 10)
		sum.Add(sum, new(big.Int).Mul(n, big.NewInt(unit)))
		return n
	}
	if days != "" {
		part(days, 86400)
	}
	for i, field := range fields {
		n := part(field, units[i])
		below := int64(60)
		if units[i] == 3600 {
			below = 24
		}
		if (i > 0 || days != "") && n.Cmp(big.NewInt(below)) >= 0 {
			return 0, false
		}
	}
	if sum.Cmp(big.NewInt(longest)) > 0 {
		return 0, false
	}
	millis := int64(0)
	if m[5] != "" {
		millis, _ = strconv.ParseInt((m[5][1:] + "000")[:3], 10, 64)
	}
	return 1000*sum.Int64() + millis, true
}

// agree compares the package's functions with the plain implementations.
func agree(t testing.TB, text string) {
	t.Helper()
	n, err := Count(text)
	if plain, ok := plainCount(text); ok != (err == nil) || ok && n != plain && !near(n, plain) {
		t.Errorf("count %q: %d, %v; plainly %d, %t", text, n, err, plain, ok)
	}
	d, ok := Duration(text)
	if plain, is := plainDuration(text); is != ok || ok && d != plain {
		t.Errorf("duration %q: %d, %t; plainly %d, %t", text, d, ok, plain, is)
	}
	if mb, err := Memory(text); mb < Unset || mb > Most || err != nil && mb != Unset {
		t.Errorf("memory %q: %d, %v", text, mb, err)
	}
	if limit, err := Limit(text); limit < 0 || limit > core.Forever || err != nil && limit != core.Forever {
		t.Errorf("limit %q: %d, %v", text, limit, err)
	}
	for r := range Resources(text) {
		if r.Count < Unset || r.Count > Most || r.Kind == "" || strings.ContainsAny(r.Name, "/=") || r.Kind == Device && (r.Name == "" || r.Count < 0) {
			t.Errorf("resources %q: %+v", text, r)
		}
	}
	for name, n := range Devices(text) {
		if name == "" || n < 0 {
			t.Errorf("devices %q: %d of %q", text, n, name)
		}
	}
}

// near reports whether two counts are equal. For fractions of a large unit it allows a difference of one, because
// six digits of a P need more than 53 bits.
func near(a, b int64) bool { return a > 1<<40 && a-b <= 1 && b-a <= 1 }

// written returns a random text made of pieces that occur in Slurm's numbers.
func written(random *rand.Rand) string {
	pieces := []string{"0", "1", "07", "24", "59", "60", "1024", "99999999999", ".", ".5", ".50", ".123456", ":", "-", "K", "M", "g", "T", "P", "kb", "gres", "/", "=", "gpu", "a100", ",", "(S:0,1)", "(CNT:7)", "no_consume", "cpu", "mem", "none"}
	var b strings.Builder
	for range random.IntN(9) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	return b.String()
}

func TestTheParserAgreesWithAPlainOne(t *testing.T) {
	random := rand.New(rand.NewPCG(45, 4))
	for range 50000 {
		if agree(t, written(random)); t.Failed() {
			return
		}
	}
	for range 20000 { // texts that Slurm itself writes, with numbers of any size
		n := random.Int64N(int64(1) << random.IntN(50))
		if got, err := Count(slurmWrites(n)); err != nil || got != n && n < 4294967294 {
			t.Fatalf("%d is written as %s and read as %d, %v", n, slurmWrites(n), got, err)
		}
		s := random.Int64N(int64(1) << random.IntN(46))
		text := fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
		if got, ok := Duration(text); !ok || got != 1000*s {
			t.Fatalf("%d s are written as %s and read as %d ms, %t", s, text, got, ok)
		}
	}
}

// slurmWrites formats a count as sacct does without --noconvert and --units: in the largest unit of which it is a
// whole or half multiple.
func slurmWrites(n int64) string {
	unit := 0
	value := big.NewRat(n, 1)
	for value.Cmp(big.NewRat(1024, 1)) >= 0 && value.IsInt() && value.Num().Int64()%512 == 0 {
		value.Quo(value, big.NewRat(1024, 1))
		unit++
	}
	if value.IsInt() {
		return value.Num().String() + []string{"", "K", "M", "G", "T", "P"}[unit]
	}
	return value.FloatString(2) + []string{"", "K", "M", "G", "T", "P"}[unit]
}

// FuzzNumbers passes any text to all functions of the package. They must agree with the plain implementations, never
// panic, and return results within their bounds.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1.50K", "4000-03:14:07", "00:01.500", "cpu=2,gres/gpu:a100=2", "gpu:a100:2(S:0,1),tmp:no_consume:350G", "mem=1.50G", "gres:tmp:10G", "UNLIMITED"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { agree(t, text) })
}
