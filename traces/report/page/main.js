// The start of the page: first the workload and its times, then what is visible, then the rest.

async function main() {
  readTheme();
  const jobs = await readJobs();
  const policies = [];
  for (let i = 0; i < facts.policies.length; i++) policies.push({ times: await readTimes(jobs, i), rects: null });
  wholeTime(jobs, policies);
  policies.forEach(({ times }, i) => {
    series.load[i] = loadSeries(jobs, times);
    series.queue[i] = queueSeries(jobs, times);
  });
  const held = facts.held.indexOf(true);
  view.policy = telling(policies, held);
  const gantt = held < 0 ? null : new Replayed(jobs, policies);
  chips(gantt);
  view.listeners.push(drawOverview, drawLoad, drawQueue, tellWindow);
  if (gantt) await prepare(gantt);
  if (facts.real) tabulate(jobs, policies[0].times, gantt);
  for (const c of facts.cumulative || []) plotCumulative(c);
  for (const c of facts.classes || []) plotClasses(c);
  listen(gantt);
  view.all();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

// telling returns the policy whose Gantt chart is shown first: one under which jobs really changed their sizes, otherwise
// the first one.
function telling(policies, first) {
  const evolved = policies.findIndex(({ times }, i) => facts.held[i] && [...times.held.values()].some(profile => profile.length > 1));
  return Math.max(0, evolved < 0 ? first : evolved);
}

function wholeTime(jobs, policies) {
  let from = Infinity, to = -Infinity;
  for (let i = 0; i < jobs.n; i++) if (jobs.submit[i] < from) from = jobs.submit[i];
  for (const { times } of policies) {
    for (const t of times.start) if (t < from) from = t;
    for (const t of times.end) if (t > to) to = t;
  }
  if (!isFinite(from)) from = 0;
  if (!(to > from)) to = from + 60;
  view.whole = { from, to };
}

async function prepare(gantt) {
  view.listeners.push(() => gantt.draw());
  await hold(gantt, view.policy);
  gantt.colourBy(document.getElementById("colour").value);
  document.getElementById("colour").addEventListener("change", event => gantt.colourBy(event.target.value));
  document.getElementById("find").addEventListener("change", event => find(gantt, event.target.value));
}

// hold unpacks the nodes that jobs held under a policy, once.
async function hold(gantt, policy) {
  const p = gantt.policies[policy];
  if (facts.held[policy] && !p.unpacking) p.unpacking = readHeld(gantt.jobs, p.times, policy).then(r => p.rects = r);
  await p.unpacking;
  if (p.rects && p.rects.most > 1) shareRows(gantt, policy);
}

// shareRows counts a node that jobs share once, and makes room for their lanes.
function shareRows(gantt, policy) {
  const { busy, most } = gantt.policies[policy].rects;
  const changes = new Changes(2 * busy.length);
  for (const [from, to] of busy) {
    changes.add(from, 1);
    changes.add(to, -1);
  }
  series.load[policy] = new Series(changes);
  gantt.canvas.style.height = Math.min(760, Math.max(gantt.canvas.clientHeight, 28 + 17 * most * facts.nodes)) + "px";
}

function find(gantt, text) {
  const says = document.getElementById("find-says"), job = gantt.jobs.number.indexOf(Number(text.trim() || NaN));
  says.textContent = "";
  if (!text.trim()) return gantt.choose(-1);
  if (job < 0) says.textContent = "There is no job " + text + ".";
  else if (gantt.times.start[job] !== gantt.times.start[job]) says.textContent = "Job " + text + " never began.";
  else {
    gantt.choose(job);
    gantt.reveal(job);
  }
}

// chips makes the buttons that choose the policy whose Gantt chart is shown.
function chips(gantt) {
  const group = document.getElementById("policies"), of = document.getElementById("gantt-of");
  const mark = () => {
    [...group.children].forEach((chip, i) => chip.setAttribute("aria-pressed", i === view.policy));
    if (of) of.textContent = facts.policies[view.policy] + ", " + grouped(facts.nodes) + (facts.nodes === 1 ? " node" : " nodes");
  };
  facts.policies.forEach((name, i) => {
    const chip = document.createElement("button"), key = document.createElement("i");
    chip.type = "button";
    key.className = "key key-" + i % 10;
    chip.append(key, name);
    chip.addEventListener("click", async () => {
      view.policy = i;
      mark();
      view.changed();
      if (!gantt) return;
      await hold(gantt, i);
      gantt.tip.hidden = true;
      gantt.colourBy(gantt.mode);
    });
    group.append(chip);
  });
  mark();
}

function tellWindow() {
  const says = instant(view.from) + " – " + instant(view.to) + " (" + span(view.to - view.from) + ")", element = document.getElementById("window");
  if (element.textContent !== says) element.textContent = says;
}

function listen(gantt) {
  listenOverview();
  listenTrack(document.getElementById("load"));
  listenTrack(document.getElementById("queue"));
  document.getElementById("zoom-in").addEventListener("click", () => view.zoom(0.5));
  document.getElementById("zoom-out").addEventListener("click", () => view.zoom(2));
  document.getElementById("zoom-all").addEventListener("click", () => view.all());
  new ResizeObserver(() => view.changed()).observe(document.querySelector("main"));
  const again = () => {
    readTheme();
    if (gantt) {
      gantt.legend();
      gantt.forget();
    }
    view.changed();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  const printing = matchMedia("print");
  printing.addEventListener("change", () => {
    theme.print = printing.matches;
    again();
    for (const draw of view.listeners) draw();
  });
}

main().catch(error => {
  const says = document.getElementById("window");
  says.textContent = "This page could not be drawn: " + error.message + ". A browser of 2023 or later can.";
  console.error(error);
});
