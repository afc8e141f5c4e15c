// The Gantt chart: nodes from top to bottom, time from left to right, a job in one colour; an evolving job is the staircase
// of the nodes it held.

const TILE = 256, CRISP = 5000; // pixels a tile; up to so many rectangles are drawn one by one

class Gantt {
  constructor(jobs, policies) {
    this.jobs = jobs;
    this.policies = policies; // of each: times, and rects once they are unpacked
    this.canvas = document.getElementById("gantt");
    this.tip = document.getElementById("tip");
    this.tiles = new Tiles();
    this.hovered = this.selected = -1;
    this.mode = "kind";
    this.box = { top: 2, bottom: 100, plot: 1 };
    this.count = this.missing = 0; // rectangles in the window; tiles that could not be drawn in a frame's time
  }

  get rects() { return this.policies[view.policy].rects; }
  get times() { return this.policies[view.policy].times; }

  // colourBy prepares one colour a job.
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

  // The users with the most node-time get colours of their own, in that order; the others share the last one.
  userColours(colour) {
    const used = new Map(), { n, user, size, run } = this.jobs;
    for (let i = 0; i < n; i++) used.set(user[i], (used.get(user[i]) || 0) + size[i] * run[i]);
    used.delete(-1);
    this.users = [...used.keys()].sort((a, b) => used.get(b) - used.get(a) || a - b).slice(0, 9);
    const place = new Map(this.users.map((u, k) => [u, k]));
    for (let i = 0; i < n; i++) colour[i] = place.has(user[i]) ? place.get(user[i]) : 9;
  }

  slowdown(i) { // bounded: of jobs of at least 10 seconds; a moldable one is judged by the log's run time
    const { start, end } = this.times, run = this.jobs.kind[i] === 1 ? this.jobs.run[i] : end[i] - start[i];
    return Math.max(1, (end[i] - this.jobs.submit[i]) / Math.max(run, 10));
  }

  palette() { return palette(this.mode === "slowdown" || this.mode === "wait" ? "scale" : this.mode); }

  legend() {
    const colours = this.palette();
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
    const surfaced = surface(this.canvas), { pen, height, plot } = surfaced;
    this.box = { top: 2, bottom: height - 26, plot };
    const { top, bottom } = this.box;
    pen.fillStyle = theme.wash;
    pen.fillRect(GUTTER, top, plot, bottom - top);
    if (this.rects) {
      pen.save();
      pen.beginPath();
      pen.rect(GUTTER, top, plot, bottom - top);
      pen.clip();
      this.missing = 0;
      this.count = this.rects.between(view.from, view.to, view.top, view.bottom, CRISP);
      if (this.count <= CRISP) this.drawCrisp(pen);
      else this.drawTiles(surfaced);
      this.drawChosen(pen);
      pen.restore();
    } else {
      pen.fillStyle = theme.soft;
      pen.textAlign = "center";
      pen.fillText(facts.held[view.policy] ? "Unpacking…" : "Nobody knows which nodes the jobs of this policy held.", GUTTER + plot / 2, (top + bottom) / 2);
    }
    timeAxis(pen, plot, view.from, view.to, bottom, bottom, true);
    this.nodeAxis(pen);
    crosshair(pen, plot, top, bottom);
    Object.assign(this.canvas.dataset, { from: view.from, to: view.to, top: view.top, bottom: view.bottom, drawn: this.count <= CRISP ? "one by one" : "summed up", waits: this.rects || !facts.held[view.policy] ? this.missing : 1 });
  }

  nodeAxis(pen) {
    const { top, bottom } = this.box;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillStyle = theme.soft;
    const nodes = view.bottom - view.top;
    let step = 1;
    for (let k = 0; nodes / step > (facts.real ? 28 : 10); k++) step *= [2, 2.5, 2][k % 3];
    for (let n = Math.ceil(view.top / step) * step; n < view.bottom; n += step) {
      const y = this.y(n) + Math.min(facts.real || step === 1 ? (bottom - top) / nodes / 2 : 0, 40);
      if (y < top + 4 && n > view.top) continue;
      pen.fillText(rowName(n), GUTTER - 8, Math.min(bottom - 6, Math.max(y, top + 6)));
    }
  }

  x(t) { return GUTTER + (t - view.from) / (view.to - view.from) * this.box.plot; }
  y(node) { return this.box.top + (node - view.top) / (view.bottom - view.top) * (this.box.bottom - this.box.top); }

  // drawTiles draws more rectangles than can be told apart: pictures of them, as many as a frame has time for.
  drawTiles({ pen, ratio }) {
    const { top, bottom, plot } = this.box;
    const perTile = TILE * (view.to - view.from) / plot; // seconds
    const high = Math.round((bottom - top) * ratio), wide = Math.round(TILE * ratio);
    const colours = this.palette().map(rgb), tiles = this.tiles;
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
      if (this.missing) { // over what stands in
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

  // edges of a rectangle on the screen, on whole pixels where it has some: neighbours meet without a seam.
  edges(i) {
    const r = this.rects;
    let x0 = this.x(r.from[i]), x1 = this.x(r.to[i]), y0 = this.y(r.top(i)), y1 = this.y(r.bottom(i));
    x0 = Math.max(x0, GUTTER - 9);
    x1 = Math.min(x1, GUTTER + this.box.plot + 9);
    if (x1 - x0 > 2) [x0, x1] = [Math.round(x0), Math.round(x1)];
    if (y1 - y0 > 2) [y0, y1] = [Math.round(y0), Math.round(y1)];
    return [x0, y0, Math.max(0.4, x1 - x0), Math.max(0.4, y1 - y0)];
  }

  // drawCrisp draws each rectangle by itself, with a gap to its neighbours, and names the jobs that have room for it.
  drawCrisp(pen) {
    const r = this.rects, { kind } = this.jobs, { end } = this.times;
    const colours = this.palette(), gap = this.y(1) - this.y(0) >= 4 ? 1 : 0;
    const evolving = new Map(), widest = new Map(); // the height of an evolving job's tallest part
    for (let k = 0; k < this.count; k++) {
      const i = r.found[k], job = r.job[i], [x, y, w, h] = this.edges(i);
      if (kind[job] === EVOLVING && w > 3) evolving.set(job, Math.max(h, evolving.get(job) || 0));
      const after = r.to[i] === end[job] && w > 3 ? 1 : 0;
      pen.fillStyle = colours[this.colour[job]];
      pen.fillRect(x, y, w - after, h > 3 ? h - gap : h);
      if (h > 14 && w > 20 && !(widest.has(job) && widest.get(job)[2] >= w)) widest.set(job, [x, y, w, h]);
    }
    for (const [job, tallest] of evolving) if (tallest >= 6) this.staircase(pen, job, theme.ink, 1, colours[this.colour[job]]); // else all would be border
    this.names(pen, widest, colours);
    if (facts.real) for (const job of new Set(r.found.subarray(0, this.count).map(i => r.job[i]))) this.promises(pen, job);
  }

  // promises shows when the start and each growth of a job were to come, and how far from it they came.
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

  // names writes each job's number once, into its widest rectangle.
  names(pen, widest, colours) {
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [job, [x, y, w, h]] of widest) {
      const text = jobName(this.jobs, job), left = Math.max(GUTTER, x), right = Math.min(GUTTER + this.box.plot, x + w);
      if (pen.measureText(text).width > right - left - 8) continue;
      pen.fillStyle = readable(colours[this.colour[job]]);
      pen.fillText(text, (left + right) / 2, y + h / 2);
    }
  }

  // staircase draws one job with a border around all it held, none between its own parts.
  staircase(pen, job, border, wide, fill) {
    const r = this.rects;
    const own = [...r.ownOf(job, this.jobs.n)].filter(i => r.to[i] > view.from && r.from[i] < view.to).map(i => this.edges(i));
    for (const [style, by] of [[border, wide], [fill, 0]]) {
      pen.fillStyle = style;
      for (const [x, y, w, h] of own) pen.fillRect(x - by, y - by, w + 2 * by, h + 2 * by);
    }
  }

  // drawChosen shows the job under the pointer and the one that was clicked, and how long it had waited.
  drawChosen(pen) {
    const colours = this.palette();
    for (const job of new Set([this.selected, this.hovered])) {
      if (job < 0 || !(this.times.start[job] <= view.to)) continue;
      const own = this.rects.ownOf(job, this.jobs.n);
      if (!own.length) continue;
      const y = Math.round((this.y(this.rects.top(own[0])) + this.y(this.rects.bottom(own[0]))) / 2);
      const x0 = Math.max(GUTTER - 9, this.x(this.jobs.submit[job])), x1 = this.x(this.times.start[job]);
      if (x1 > x0 + 2) {
        pen.fillStyle = theme.ink;
        pen.fillRect(x0, y, x1 - x0, 1);
        pen.fillRect(x0, y - 4, 1, 9);
      }
      this.staircase(pen, job, theme.ink, job === this.selected ? 2 : 1.5, colours[this.colour[job]]);
    }
  }
}

const slowdownSteps = [1.1, 2, 5, 10, 50, 200];
const waitSteps = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 3 * DAY];

// readable is black or white, whichever is read better on a colour.
function readable(hex) {
  const [r, g, b] = rgb(hex);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#14181f" : "#ffffff";
}
