package report

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"accordion/internal/browser"
)

var long = flag.Bool("accordion.long", false, "open a report of 100,000 jobs, and judge its times")

// The bounds for a report of 100,000 jobs under three policies, on an idle machine with two cores and without a graphics card.
const (
	mostBytes = 25 << 20
	mostOpen  = 3000.0 // milliseconds from the navigation to the first complete drawing
	mostFrame = 1000.0 / 30
)

func TestReportIsSmall(t *testing.T) {
	const jobs = 2000
	r := made(t, jobs, 4, 1, "easy", "conservative")
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	// The bound is 25 MiB for 100,000 jobs under two policies, and this report has a quarter of that.
	if most := 150_000 + jobs*mostBytes/100_000/4; b.Len() > most {
		t.Errorf("%d jobs take %d bytes, more than %d", jobs, b.Len(), most)
	}
}

// panned drags the Gantt chart over its whole width several times, and measures the frames in milliseconds.
const panned = `(async () => {
	const canvas = document.getElementById("gantt"), box = canvas.getBoundingClientRect();
	const frame = () => new Promise(done => requestAnimationFrame(done));
	const hand = (type, x) => canvas.dispatchEvent(new PointerEvent(type, {clientX: box.left + x, clientY: box.top + 200, pointerId: 1, bubbles: true}));
	canvas.setPointerCapture = () => {};
	for (let k = 0; k < 3; k++) canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
	while (canvas.dataset.waits !== "0" || canvas.dataset.drawn === undefined) await frame();
	for (let k = 0; k < 10; k++) await frame();
	const times = [];
	hand("pointerdown", 1000);
	let last = performance.now();
	for (let k = 1; k <= 150; k++) {
		hand("pointermove", 1000 - 6 * k);
		await frame();
		const now = performance.now();
		times.push(now - last);
		last = now;
	}
	hand("pointerup", 100);
	return times;
})()`

// go test ./traces/report -run HundredThousand -v -args -accordion.long
func TestChartOfHundredThousandJobsIsFluid(t *testing.T) {
	if !*long {
		t.Skip("makes and opens a report of 100,000 jobs, and judges times: -args -accordion.long")
	}
	r := made(t, 100_000, 4, 1, "easy", "conservative", "evolving:2X+c")
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(f); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostBytes {
		t.Errorf("the report has %d bytes, more than %d", info.Size(), mostBytes)
	}
	opened, middle, slow := mostOpen*100, mostFrame*100, mostFrame*100
	for range 3 { // the best of some, because other work may slow the machine down
		p := openFile(t, browser.Light, file)
		opened = min(opened, browser.Ask[float64](p.Tab, `+document.documentElement.dataset.ready`))
		frames := browser.Ask[[]float64](p.Tab, panned)
		slices.Sort(frames)
		middle, slow = min(middle, frames[len(frames)/2]), min(slow, frames[len(frames)*95/100])
		p.Quiet()
	}
	t.Logf("%d bytes; opened after %.0f ms; frames of a pan: median %.1f ms, 95 %% within %.1f ms", info.Size(), opened, middle, slow)
	if opened > mostOpen {
		t.Errorf("the report opened after %.0f ms, more than %.0f", opened, mostOpen)
	}
	if middle > mostFrame {
		t.Errorf("a frame took %.1f ms in the middle, more than %.1f", middle, mostFrame)
	}
}
