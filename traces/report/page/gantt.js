// The Gantt chart: nodes from top to bottom, time from left to right, one color per job. An evolving job is the staircase
// of the nodes that it held.

const TILE = 256; // pixels

class Replayed extends Gantt {
  constructor(jobs, policies) {
    super(document.getElementById("gantt"), document.getElementById("tip"), view, theme);
    // Per policy: times, and rects once they are unpacked. missing has the tiles that could not be
    // drawn in the time of a frame.
    Object.assign(this, { jobs, policies, tiles: new Tiles(), mode: "kind", named: !!facts.real, most: 5000, missing: 0 });
  }

  get rects() { return this.policies[view.policy].rects; }
  get times() { return this.policies[view.policy].times; }

  // colourBy computes a color per job.
  colourBy(mode) {
    this.mode = mode;
    const { n, kind } = this.jobs;
    const colour = this.colour = new Uint8Array(n);
    if (mode === "kind") colour.set(kind);
    else if (mode === "user") this.userColours(colour);
    else if (mode === "job") for (let i = 0; i < n; i++) colour[i] = i % 9;
    else {
      const value = mode === "wait" ? i => this.times.start[i] - this.jobs.submit[i] : i => this.slowdown(i);
      const steps = mode === "wait" ? waitSteps : slowdownSteps;
      for (let i = 0; i < n; i++) while (colour[i] < steps.length && value(i) >= steps[colour[i]]) colour[i]++;
    }
    this.legend();
    this.forget();
  }

  // The users with most node-time have their own colors, in that order. The others share the last color.
  userColours(colour) {
    const used = new Map(), { n, user, size, run } = this.jobs;
    for (let i = 0; i < n; i++) used.set(user[i], (used.get(user[i]) || 0) + size[i] * run[i]);
    used.delete(-1);
    this.users = [...used.keys()].sort((a, b) => used.get(b) - used.get(a) || a - b).slice(0, 9);
    const place = new Map(this.users.map((u, k) => [u, k]));
    for (let i = 0; i < n; i++) colour[i] = place.has(user[i]) ? place.get(user[i]) : 9;
  }

  slowdown(i) { // run times count as at least 10 seconds; a moldable job has its run time in the log
    const { start, end } = this.times, run = this.jobs.kind[i] === 1 ? this.jobs.run[i] : end[i] - start[i];
    return Math.max(1, (end[i] - this.jobs.submit[i]) / Math.max(run, 10));
  }

  get colours() { return palette(this.mode === "slowdown" || this.mode === "wait" ? "scale" : this.mode); }

  legend() {
    const { colours } = this;
    const ladder = (steps, text) => colours.map((c, k) => [c, k === 0 ? "under " + text(steps[0]) : k === steps.length ? text(steps[k - 1]) + " and more" : text(steps[k - 1]) + " – " + text(steps[k])]);
    let entries;
    if (this.mode === "kind") entries = kinds.map((name, k) => [colours[k], name]).filter((_, k) => this.jobs.kind.includes(k));
    else if (this.mode === "job") entries = [];
    else if (this.mode === "user") {
      entries = this.users.map((u, k) => [colours[k], userName(u)]);
      if (this.colour.includes(9)) entries.push([colours[9], entries.length ? "others" : "unknown"]);
    } else if (this.mode === "wait") entries = ladder(waitSteps, span);
    else entries = ladder(slowdownSteps, v => String(v));
    const legend = document.getElementById("legend");
    if (facts.real) entries.push([null, "start or growth promised here; red until it came, green if it came before"]);
    legend.replaceChildren(...entries.map(([c, name]) => {
      const item = document.createElement("span"), swatch = document.createElement("i");
      if (c) swatch.style.background = c;
      else swatch.className = "promise";
      item.append(swatch, name);
      return item;
    }));
  }

  forget() {
    this.tiles.forget();
    view.changed();
  }

  draw() {
    this.missing = 0;
    super.draw();
    const { plot, top, bottom } = this.box;
    crosshair(this.canvas.getContext("2d"), plot, top, bottom);
    Object.assign(this.canvas.dataset, { drawn: this.count <= this.most ? "one by one" : "summed up", waits: this.rects || !facts.held[view.policy] ? this.missing : 1 });
  }

  frame(pen, width, height) { return { left: GUTTER, plot: Math.max(1, width - GUTTER - EDGE), top: 2, bottom: height - 26, names: facts.real ? 28 : 10 }; }
  ticks(from, to, most) { return timeTicks(from, to, most); }
  rowName(row) { return rowName(row); }

  // under writes why there are no rectangles.
  under(pen) {
    if (this.rects) return;
    pen.fillStyle = theme.soft;
    pen.textAlign = "center";
    pen.fillText(facts.held[view.policy] ? "Unpacking…" : "It is not known which nodes the jobs of this policy held.", GUTTER + this.box.plot / 2, (this.box.top + this.box.bottom) / 2);
  }

  paint(pen, i, x, y, w, h) {
    pen.fillStyle = this.colours[this.colour[this.rects.job[i]]];
    pen.fillRect(x, y, w, h);
  }

  label(i) { return this.rects.job[i]; }
  name(i) { return [readable(this.colours[this.colour[this.rects.job[i]]]), jobName(this.jobs, this.rects.job[i])]; }
  ends(i) { return this.rects.to[i] === this.times.end[this.rects.job[i]]; }

  // sumUp draws images of tiles when there are too many rectangles to distinguish, as many tiles as a frame has time for.
  sumUp({ pen, ratio }) {
    const { top, bottom, plot } = this.box;
    const perTile = TILE * (view.to - view.from) / plot; // seconds
    const high = Math.round((bottom - top) * ratio), wide = Math.round(TILE * ratio);
    const colours = this.colours.map(rgb), tiles = this.tiles;
    tiles.scale([view.policy, this.mode, theme.dark, plot, bottom, ratio, (view.to - view.from).toPrecision(12), view.top, view.bottom].join(), perTile, view.top, view.bottom);
    const deadline = performance.now() + 12;
    const first = Math.floor((view.from - view.whole.from) / perTile), last = Math.floor((view.to - view.whole.from) / perTile);
    const ready = [];
    for (let k = first; k <= last; k++) {
      const tile = tiles.get(k, ready.length || tiles.before.whole ? deadline : Infinity, k => {
        const from = view.whole.from + k * perTile;
        const canvas = document.createElement("canvas");
        canvas.width = wide;
        canvas.height = high;
        canvas.getContext("2d").putImageData(rasterise(this.rects, { from, to: from + perTile, top: view.top, bottom: view.bottom }, wide, high, this.colour, colours, this.times.end), 0, 0);
        return canvas;
      });
      if (tile) ready.push([k, tile]);
      else this.missing++;
    }
    if (this.missing) {
      this.drawStandIns(pen);
      view.changed(); // the rest in the next frames
    } else tiles.now.whole = true;
    for (const [k, tile] of ready) {
      const x = this.x(view.whole.from + k * perTile);
      if (this.missing) { // over the stretched old tiles
        pen.fillStyle = theme.wash;
        pen.fillRect(x, top, TILE, bottom - top);
      }
      pen.drawImage(tile, x, top, TILE, bottom - top);
    }
  }

  drawStandIns(pen) {
    const { span, top, bottom, kept } = this.tiles.before;
    for (const [k, tile] of kept) {
      const x0 = this.x(view.whole.from + k * span), x1 = this.x(view.whole.from + (k + 1) * span);
      if (x1 > GUTTER && x0 < GUTTER + this.box.plot) pen.drawImage(tile, x0, this.y(top), x1 - x0, this.y(bottom) - this.y(top));
    }
  }

  // outline draws borders around evolving jobs, unless their parts are so small that only borders would be visible.
  outline(pen) {
    const tallest = new Map(), r = this.rects;
    for (const i of r.found.subarray(0, this.count)) {
      if (this.jobs.kind[r.job[i]] !== EVOLVING) continue;
      const [, , w, h] = this.edges(i);
      if (w > 3) tallest.set(r.job[i], Math.max(h, tallest.get(r.job[i]) || 0));
    }
    for (const [job, high] of tallest) if (high >= 6) this.staircase(pen, job, 1);
  }

  marks(pen) {
    if (facts.real) for (const job of new Set(this.rects.found.subarray(0, this.count).map(i => this.rects.job[i]))) this.promises(pen, job);
  }

  // promises shows when the start and each growth of a job were promised, and when they happened.
  promises(pen, job) {
    for (const { at, came, row } of facts.real.jobs[job].promises || []) {
      if (came === null) continue;
      const x = this.x(Math.max(at, view.whole.from)), y = Math.max(this.y(row), this.box.top + 3);
      pen.fillStyle = came < at ? theme.better : theme.late;
      pen.fillRect(Math.min(x, this.x(came)), y - 1, Math.abs(this.x(came) - x), 2.4);
      pen.fillStyle = theme.card;
      pen.strokeStyle = theme.ink;
      pen.beginPath();
      pen.moveTo(x - 4, y - 3);
      pen.lineTo(x + 4, y - 3);
      pen.lineTo(x, y + 4);
      pen.closePath();
      pen.fill();
      pen.stroke();
    }
  }

  // drawChosen also shows how long a job had waited.
  drawChosen(pen, job) {
    if (!(this.times.start[job] <= view.to)) return;
    const [first] = this.rects.ownOf(job), y = Math.round((this.y(this.rects.top[first]) + this.y(this.rects.bottom[first])) / 2);
    const x0 = Math.max(GUTTER - 9, this.x(this.jobs.submit[job])), x1 = this.x(this.times.start[job]);
    if (x1 > x0 + 2) {
      pen.fillStyle = theme.ink;
      pen.fillRect(x0, y, x1 - x0, 1);
      pen.fillRect(x0, y - 4, 1, 9);
    }
    super.drawChosen(pen, job);
  }

  // order returns the jobs in the order of their starts.
  order() {
    const { start } = this.times;
    if (this.ordered !== start) {
      this.ordered = start;
      this.sorted = Uint32Array.from(start.keys()).filter(i => start[i] === start[i]).sort((a, b) => start[a] - start[b] || a - b);
    }
    return this.sorted;
  }

  // begins returns the first job in the window.
  begins(order) { return order.findIndex(i => this.times.start[i] >= view.from); }

  // reveal moves the window so that a job is visible, and shows the tip next to it.
  reveal(job) {
    const { start, end } = this.times;
    if (start[job] !== start[job]) return;
    const run = end[job] - start[job], own = this.rects.ownOf(job);
    let length = view.to - view.from;
    if (run * 60 < length) length = Math.max(run * 60, 600);
    if (run > length) length = run * 1.3;
    const middle = (start[job] + end[job]) / 2;
    const kept = length === view.to - view.from && start[job] >= view.from && end[job] <= view.to;
    view.show(kept ? view.from : middle - length / 2, kept ? view.to : middle + length / 2);
    if (!own.length) return;
    const first = this.rects.first(own[0]), last = this.rects.last(own[0]);
    if (first < view.top || first >= view.bottom) view.pan(0, (first + last) / 2 - (view.top + view.bottom) / 2);
    const x = Math.min(Math.max(this.x(start[job]), GUTTER), GUTTER + this.box.plot);
    this.tell(job, { x, y: Math.max(this.box.top, this.y((first + last + 1) / 2)), t: start[job] });
  }

  // tell shows a job's facts next to a place in the chart.
  tell(job, at) {
    const { tip, jobs, times } = this;
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
      ["bounded slowdown", decimal(this.slowdown(job))],
    ];
    const now = Math.min(Math.max(at.t, start), end);
    const own = this.rects.ownOf(job).filter(i => this.rects.from[i] <= now && (now < this.rects.to[i] || this.rects.to[i] === end));
    if (held && held.length > 1 && own.length) {
      const count = own.reduce((sum, i) => sum + this.rects.last(i) - this.rects.first(i) + 1, 0);
      lines.push(["here", grouped(count) + (count === 1 ? " node" : " nodes") + " until " + instant(this.rects.to[own[0]])]);
    }
    if (about) for (const p of about.promises || []) lines.push([p.from ? "growth " + p.from + " → " + p.to : "start", kept(p)]);
    if (own.length) lines.push([about ? "on" : "node numbers", own.slice(0, 6).map(i => nodeNames(this.rects.first(i), this.rects.last(i))).join(", ") + (own.length > 6 ? " …" : "")]);
    this.showTip(at, JSON.stringify([job, view.policy, lines]), () => {
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
}

const slowdownSteps = [1.1, 2, 5, 10, 50, 200];
const waitSteps = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 3 * DAY];

function nodeNames(first, last) { return first === last ? rowName(first) : rowName(first) + "–" + rowName(last); }
