// What a hand does to the Gantt chart: wheel, drag, pinch, keys; and what the chart says of the job under the pointer.

function listenGantt(gantt) {
  const { canvas } = gantt;
  const place = event => {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const { top, bottom, plot } = gantt.box;
    const within = x >= GUTTER && x < GUTTER + plot && y >= top && y < bottom;
    return { x, y, within, t: view.from + (x - GUTTER) / plot * (view.to - view.from), node: view.top + (y - top) / (bottom - top) * (view.bottom - view.top) };
  };

  // A page that is being scrolled goes on scrolling when the chart comes under the pointer.
  let scrolled = -Infinity;
  window.addEventListener("wheel", event => { if (event.target !== canvas) scrolled = event.timeStamp; }, { passive: true });
  canvas.addEventListener("wheel", event => {
    if (event.timeStamp - scrolled < 400 && !event.ctrlKey) {
      scrolled = event.timeStamp;
      return;
    }
    event.preventDefault();
    const at = place(event), lines = event.deltaMode === 1 ? 16 : 1;
    const dx = event.deltaX * lines, dy = event.deltaY * lines;
    if (event.shiftKey) view.zoomNodes(Math.exp((dy || dx) * 0.002), at.node);
    else if (Math.abs(dx) > Math.abs(dy)) view.pan(dx / gantt.box.plot * (view.to - view.from));
    else view.zoom(Math.exp(dy * 0.002), at.t);
  }, { passive: false });

  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", event => {
    fingers.set(event.pointerId, place(event));
    moved = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const now = place(event), before = fingers.get(event.pointerId);
    if (!before) return hover(gantt, now);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (fingers.size === 2) pinch(gantt, fingers, event.pointerId, now);
    else if (moved > 3) {
      canvas.classList.add("moving");
      gantt.tip.hidden = true;
      const { top, bottom, plot } = gantt.box;
      view.pan((before.x - now.x) / plot * (view.to - view.from), (before.y - now.y) / (bottom - top) * (view.bottom - view.top));
    } else return;
    fingers.set(event.pointerId, now);
  });
  const lift = event => {
    const down = fingers.delete(event.pointerId);
    canvas.classList.remove("moving");
    if (down && moved <= 3 && event.type === "pointerup") choose(gantt, jobAt(gantt, place(event)));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => hover(gantt, { within: false }));
  canvas.addEventListener("dblclick", event => view.zoom(0.4, place(event).t));
  canvas.addEventListener("keydown", event => { if (key(gantt, event)) event.preventDefault(); });
}

function pinch(gantt, fingers, moving, now) {
  const [other] = [...fingers].filter(([id]) => id !== moving).map(([, p]) => p);
  const before = fingers.get(moving), { plot } = gantt.box;
  const factor = Math.max(10, Math.abs(before.x - other.x)) / Math.max(10, Math.abs(now.x - other.x));
  const middle = view.from + ((now.x + other.x) / 2 - GUTTER) / plot * (view.to - view.from);
  view.zoom(Math.min(2, Math.max(0.5, factor)), middle);
}

function key(gantt, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const time = (view.to - view.from) / 8, nodes = (view.bottom - view.top) / 8, middle = (view.from + view.to) / 2;
  switch (event.key) {
    case "ArrowLeft": view.pan(-time); return true;
    case "ArrowRight": view.pan(time); return true;
    case "ArrowUp": view.pan(0, -nodes); return true;
    case "ArrowDown": view.pan(0, nodes); return true;
    case "+": case "=": view.zoom(0.6, middle); return true;
    case "-": case "_": view.zoom(1 / 0.6, middle); return true;
    case "0": case "Home": view.all(); return true;
    case "n": case "N": step(gantt, 1); return true;
    case "p": case "P": step(gantt, -1); return true;
    case "Escape": choose(gantt, -1); return true;
  }
  return false;
}

// step goes to the job that began after, or before, the one chosen; without one, to the first in the window.
function step(gantt, by) {
  const { start } = gantt.times;
  if (gantt.ordered !== start) {
    gantt.ordered = start;
    gantt.order = Uint32Array.from(start.keys()).filter(i => start[i] === start[i]).sort((a, b) => start[a] - start[b] || a - b);
  }
  const order = gantt.order;
  if (!order.length) return;
  let k = gantt.selected >= 0 ? order.indexOf(gantt.selected) + by : order.findIndex(i => start[i] >= view.from);
  k = Math.min(order.length - 1, Math.max(0, k));
  choose(gantt, order[k]);
  reveal(gantt, order[k]);
}

// reveal moves the window so that a job is seen, and tells of it beside it.
function reveal(gantt, job) {
  const { start, end } = gantt.times;
  if (start[job] !== start[job]) return;
  const run = end[job] - start[job], own = gantt.rects.ownOf(job, gantt.jobs.n);
  let length = view.to - view.from;
  if (run * 60 < length) length = Math.max(run * 60, 600);
  if (run > length) length = run * 1.3;
  const middle = (start[job] + end[job]) / 2;
  const kept = length === view.to - view.from && start[job] >= view.from && end[job] <= view.to;
  view.show(kept ? view.from : middle - length / 2, kept ? view.to : middle + length / 2);
  if (!own.length) return;
  const first = gantt.rects.first[own[0]], last = gantt.rects.last[own[0]];
  if (first < view.top || first >= view.bottom) view.pan(0, (first + last) / 2 - (view.top + view.bottom) / 2);
  const x = Math.min(Math.max(gantt.x(start[job]), GUTTER), GUTTER + gantt.box.plot);
  tell(gantt, job, { x, y: Math.max(gantt.box.top, gantt.y((first + last + 1) / 2)), t: start[job] });
}

function choose(gantt, job) {
  gantt.selected = job;
  if (job < 0) gantt.tip.hidden = true;
  view.changed();
}

function jobAt(gantt, at) {
  if (!at.within || !gantt.rects) return -1;
  const i = gantt.rects.at(at.t, at.node);
  return i < 0 ? -1 : gantt.rects.job[i];
}

function hover(gantt, at) {
  view.hover = at.within ? at.t : null;
  gantt.hovered = jobAt(gantt, at);
  if (gantt.hovered < 0) gantt.tip.hidden = true;
  else tell(gantt, gantt.hovered, at);
  view.changed();
}

// tell puts a job's facts beside a place of the chart.
function tell(gantt, job, at) {
  const { tip, jobs, times } = gantt;
  const start = times.start[job], end = times.end[job], request = jobs.request[job];
  const held = times.held.get(job);
  const about = facts.real && facts.real.jobs[job];
  const lines = [
    ["user", jobs.user[job] < 0 ? "unknown" : facts.real ? userName(jobs.user[job]) : jobs.user[job]],
    ["submitted", instant(jobs.submit[job], true)],
    ["began", instant(start, true)],
    ["waited", span(start - jobs.submit[job])],
    ["ran", span(end - start) + (jobs.cut[job] ? ", cut off at its limit" : "")],
    ["asked for", about ? about.request || "–" : span(request)],
    ["nodes", sizes(jobs, times, job)],
    ["bounded slowdown", decimal(gantt.slowdown(job))],
  ];
  const now = Math.min(Math.max(at.t, start), end);
  const own = [...gantt.rects.ownOf(job, jobs.n)].filter(i => gantt.rects.from[i] <= now && (now < gantt.rects.to[i] || gantt.rects.to[i] === end));
  if (held && held.length > 1 && own.length) {
    const count = own.reduce((sum, i) => sum + gantt.rects.last[i] - gantt.rects.first[i] + 1, 0);
    lines.push(["here", grouped(count) + (count === 1 ? " node" : " nodes") + " until " + instant(gantt.rects.to[own[0]])]);
  }
  if (about) for (const p of about.promises || []) lines.push([p.from ? "growth " + p.from + " → " + p.to : "start", kept(p)]);
  if (own.length) lines.push([about ? "on" : "node numbers", own.slice(0, 6).map(i => nodeNames(gantt.rects.first[i], gantt.rects.last[i])).join(", ") + (own.length > 6 ? " …" : "")]);
  place(gantt, at, JSON.stringify([job, view.policy, lines]), () => {
    const title = document.createElement("b"), facts = document.createElement("dl");
    title.textContent = (about ? about.name + " (" + jobs.number[job] + ")" : "Job " + jobs.number[job]) + ", " + kinds[jobs.kind[job]];
    for (const [name, text] of lines) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = text;
      facts.append(dt, dd);
    }
    tip.replaceChildren(title, facts);
    tip.dataset.job = jobs.number[job];
  });
}

// place moves the tip beside a place of the chart, and has it filled when it says something else than before.
function place(gantt, at, says, fill) {
  const { tip } = gantt;
  if (gantt.says !== says) fill();
  if (gantt.says !== says || tip.hidden) {
    gantt.says = says;
    tip.hidden = false;
    gantt.tipSize = tip.getBoundingClientRect();
  }
  const { width, height } = gantt.tipSize, stage = gantt.canvas.getBoundingClientRect();
  const left = at.x + 16 + width > stage.width ? at.x - 16 - width : at.x + 16;
  const below = stage.top + at.y + 18 + height > window.innerHeight;
  const top = below ? Math.max(at.y - height - 12, -stage.top + 4) : at.y + 18;
  tip.style.transform = `translate(${Math.max(0, Math.round(left))}px, ${Math.round(top)}px)`;
}

function nodeNames(first, last) { return first === last ? rowName(first) : rowName(first) + "–" + rowName(last); }
