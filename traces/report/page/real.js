// What jobs that really ran have, and replays do not: names, and promises.

function rowName(n) { return facts.real ? facts.real.nodes[n] : grouped(n); }

function userName(u) { return facts.real ? facts.real.users[u] : "user " + u; }

function jobName(jobs, i) { return facts.real ? facts.real.jobs[i].name : String(jobs.number[i]); }

// sizes returns 2 → 8 → 4.
function sizes(jobs, times, i) {
  const held = times.held.get(i);
  return held ? held.map(s => grouped(s.nodes)).join(" → ") : grouped(jobs.size[i]);
}

// kept returns how a promise was kept, in words.
function kept({ at, came }) {
  if (came === null) return "promised and missed";
  const late = Math.round(10 * (came - at)) / 10;
  return late > 0 ? span(late) + " late" : late < 0 ? span(-late) + " early" : "as promised";
}

// brief returns an instant without the date on the first day.
function brief(t) { return Math.floor((facts.begin + t) / DAY) === Math.floor(facts.begin / DAY) ? clock((facts.begin + t) % DAY, true) : instant(t, true); }

// tabulate lists the jobs below the charts.
function tabulate(jobs, times, gantt) {
  const line = (cells, parent) => {
    const row = parent.insertRow();
    for (const text of cells) row.insertCell().textContent = text;
    return row;
  };
  const table = document.getElementById("job-table"), body = table.createTBody();
  line(["job", "user", "kind", "request", "submitted", "started", "waited", "ran", "nodes", "latest growth", "saved", "ended"], table.createTHead());
  const add = i => {
    const { name, request, outcome, promises } = facts.real.jobs[i], start = times.start[i], run = times.end[i] - start, began = start === start;
    const late = (promises || []).filter(p => p.from && p.came !== null).map(p => p.came - p.at), held = times.held.get(i) || [];
    const peak = Math.max(...held.map(s => s.nodes)) * run, saved = peak - held.reduce((sum, s) => sum + s.nodes * s.duration, 0);
    const row = line([
      name + " " + jobs.number[i], jobs.user[i] < 0 ? "" : userName(jobs.user[i]), kinds[jobs.kind[i]], request, brief(jobs.submit[i]),
      began ? brief(start) : "–", began ? span(start - jobs.submit[i]) : "–", began ? span(run) : "–", began ? sizes(jobs, times, i) : "–",
      late.length ? span(Math.max(0, Math.round(10 * Math.max(...late)) / 10)) : "–", saved > 0 ? Math.round(100 * saved / peak) + thinSpace + "%" : "–", outcome,
    ], body);
    row.addEventListener("pointerenter", () => { gantt.hovered = i; view.changed(); });
    row.addEventListener("pointerleave", () => { gantt.hovered = -1; view.changed(); });
    row.addEventListener("click", () => { gantt.choose(i); gantt.reveal(i); });
  };
  const left = times.start.keys();
  const more = () => { // adds more rows when the last one becomes visible, because adding thousands of rows in one step would take seconds
    for (let k = 0; k < 500; k++) {
      const { value, done } = left.next();
      if (done) return;
      add(value);
    }
    new IntersectionObserver((seen, observer) => {
      if (!seen.some(entry => entry.isIntersecting)) return;
      observer.disconnect();
      more();
    }).observe(body.lastChild);
  };
  more();
}
