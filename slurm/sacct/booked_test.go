package sacct

import (
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
)

// separated joins rows. It writes `separator` between their fields.
func separated(separator string, rows ...string) string {
	return strings.ReplaceAll(strings.Join(rows, "\n")+"\n", "|", separator)
}

// textOf formats the accounting as text, one line for each job.
func textOf(books *adapter.Accounting) string {
	var b strings.Builder
	for _, j := range books.Jobs {
		fmt.Fprintf(&b, "%d@%d of %s %q in %s", j.ID, j.Submitted, j.User, j.Name, j.Partition)
		if j.Expands != 0 {
			fmt.Fprintf(&b, " for %d, stays %t, merged %t, dangling %t", j.Expands, j.Stays, j.Merged, j.Dangling)
		}
		for _, h := range j.Holds {
			fmt.Fprintf(&b, ", %v %d-%d", h.Nodes, h.From, h.To)
		}
		fmt.Fprintf(&b, ": %s, open %t, suspended %t, sum %.0f, lost %d, twice %v\n", j.State, j.Open, j.Suspended, j.Sum, j.Lost, j.Twice)
	}
	return b.String()
}

// The rows are those of a growth by overlap and a shrink, and of a companion, as Slurm 22.05 writes them.
func TestAccountingHasAResizedJobWithItsAllocations(t *testing.T) {
	books, err := ReadBooked(strings.NewReader(separated("|",
		"1|60|135|150|RESIZING|main|alice|4|2|00:00:00|n[1-2]|a",
		"1.batch|135|135|190|COMPLETED|main|alice|2|1|00:00:00|n1|batch",
		"2|149|149|150|RESIZING|main|alice|2|1|00:00:00|n3|accordion-grow-1",
		"2|150|150|Unknown|COMPLETED|main|alice|0|0|00:00:00|None assigned|accordion-grow-1",
		"1|150|150|170|RESIZING|main|alice|6|3|00:00:00|n[1-3]|a",
		"1|170|135|190|COMPLETED|main|alice|2|1|00:00:00|n1|a",
		"4|160|160|175|CANCELLED by 0|main|alice|4|2|00:00:00|n[9-10]|accordion-with-1",
		"5|100|180|Unknown|RUNNING|shared|bob|2|1|00:01:00|n4|b",
		"6|120|120|130|RESIZING|main|bob|2|1|00:00:00|n5|gift",
		"6|130|130|Unknown|COMPLETED|main|bob|0|0|00:00:00|None assigned|gift",
		"7|131|131|Unknown|COMPLETED|main|bob|0|0|00:00:00|None assigned|gift",
	)), "|", 200)
	if err != nil || books.Unread > 0 {
		t.Fatal(err, books.Why)
	}
	want := `1@60 of alice "a" in main, [n1 n2] 135-150, [n1 n2 n3] 150-170, [n1] 170-190: COMPLETED, open false, suspended false, sum 145, lost 0, twice []
2@149 of alice "accordion-grow-1" in main for 1, stays false, merged true, dangling true, [n3] 149-150: COMPLETED, open false, suspended false, sum 1, lost 0, twice []
4@160 of alice "accordion-with-1" in main for 1, stays true, merged false, dangling false, [n9 n10] 160-175: CANCELLED, open false, suspended false, sum 30, lost 0, twice []
5@100 of bob "b" in shared, [n4] 180-200: RUNNING, open true, suspended true, sum 20, lost 0, twice []
6@120 of bob "gift" in main, [n5] 120-130: COMPLETED, open false, suspended false, sum 10, lost 0, twice []
7@131 of bob "gift" in main: COMPLETED, open false, suspended false, sum 0, lost 0, twice []
`
	if got := textOf(books); got != want || !books.Jobs[4].Dangling || !books.Jobs[5].Dangling {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestAccountingShowsChangesInOneSecondAndStepsTwice(t *testing.T) {
	books, err := ReadBooked(strings.NewReader(separated("|",
		"1|60|135|150|RESIZING|main|alice|4|2|00:00:00|n[1-2]|a",
		"1|150|150|150|RESIZING|main|alice|6|3|00:00:00|n[1-3]|a",
		"1|150|150|190|COMPLETED|main|alice|8|4|00:00:00|n[1-4]|a",
		"1.0|135|135|149|COMPLETED|main|alice|2|1|00:00:00|n1|x",
		"1.0|150|140|190|COMPLETED|main|alice|2|1|00:00:00|n1|x",
		"1.1|150|151|160|COMPLETED|main|alice|2|1|00:00:00|n1|x",
		"1.1|150|160|190|COMPLETED|main|alice|2|1|00:00:00|n1|x", // a step of an earlier run of a requeued job
	)), "|", 200)
	if err != nil {
		t.Fatal(err)
	}
	if j := books.Jobs[0]; j.Lost != 1 || fmt.Sprint(j.Twice) != "[0]" {
		t.Errorf("%d sizes are lost and the steps %v occur twice, want 1 and 0", j.Lost, j.Twice)
	}
}

// Users choose the names of jobs, but cannot guess the separator.
func TestJobNamesCannotForgeRows(t *testing.T) {
	const separator = "|7Q|"
	text := separated(separator, "1|60|135|150|COMPLETED|main|mallory|4|2|00:00:00|n1|") + "x\n2|60|135|150|COMPLETED|main|alice|4|2|00:00:00|n1|forged\n\n" +
		separated(separator, "3|60|135|150|COMPLETED|main|bob|4|2|00:00:00|n2|a|b", "4|60|never|150|COMPLETED|main|bob|4|2|00:00:00|n2|c", "five|60|1|2|COMPLETED|main|bob|4|2|00:00:00|n2|c")
	books, err := ReadBooked(strings.NewReader(text), separator, 200)
	if err != nil {
		t.Fatal(err)
	}
	if len(books.Jobs) != 2 || books.Jobs[0].ID != 1 || books.Jobs[1].ID != 3 {
		t.Errorf("accounting has\n%swant the jobs 1 and 3", textOf(books))
	}
	if want := `sacct, line 6: "never" is no time`; books.Unread != 2 || !strings.HasPrefix(books.Why, want) {
		t.Errorf("%d rows are not read, %q; want 2, %q…", books.Unread, books.Why, want)
	}
}
