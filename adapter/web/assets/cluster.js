// The Gantt chart of the cluster: nodes that were held and are held, promised to running jobs, and planned for waiting jobs.

import { Gantt, Rects, View, columns, readable } from "./charts.js";
import { clock, count, hosts, kindName, jobLink, span, ticks, who, away } from "./words.js";
import { layout, PAST, HELD, PROMISED, PLANNED } from "./place.js";
import { shade, theme } from "./theme.js";

const EDGE = 10, HEAD = 14, HOUR = 3600, DAY = 24 * HOUR;

// Now is a time window that follows the present until the user moves it. A quarter of it is in the past.
class Now extends View {
  constructor(feed) {
    super(0, 60);
    Object.assign(this, { feed, follows: true, to: 0, from: 0 });
  }

  get whole() {
    const now = this.feed.now();
    return { from: now - 30 * DAY, to: now + 90 * DAY };
  }

  show(...window) {
    this.follows = false;
    super.show(...window);
  }

  zoom(factor, at) {
    const { follows } = this, kept = follows && at === undefined;
    super.zoom(factor, kept ? this.feed.now() : at);
    this.follows = kept;
  }

  // follow shows the present again, with the present or the given length of the window.
  follow(length = this.to - this.from) {
    this.from = this.feed.now() - length / 4;
    this.to = this.from + length;
    this.follows = true;
  }
}

export class Cluster extends Gantt {
  constructor(feed, chosen) {
    const canvas = document.getElementById("gantt");
    super(canvas, document.getElementById("tip"), new Now(feed), theme);
    Object.assign(this, { feed, chosen, list: [], named: true, lined: true, scrolls: true }); // chosen: returns whether a job matches the filter
    this.view.listeners.push(() => this.draw());
    for (const [id, run] of [["zoom-in", () => this.view.zoom(0.7)], ["zoom-out", () => this.view.zoom(1 / 0.7)], ["zoom-now", () => this.home()], ["zoom-all", () => this.all()]]) {
      document.getElementById(id).addEventListener("click", run);
    }
    new ResizeObserver(() => this.view.changed()).observe(canvas);
  }

  // arrived is called when new data has arrived.
  arrived() {
    const { feed, view } = this, { rects, left } = layout(feed, feed.now(), hosts), nodes = feed.state.nodes.length;
    Object.assign(this, { list: rects, rects: new Rects(columns(rects)), left });
    if (view.rows !== nodes) Object.assign(view, { rows: nodes, top: 0, bottom: nodes });
    if (view.to === view.from) this.home();
    const lanes = rects.reduce((most, r) => Math.max(most, 1 / (r.bottom - r.top)), 1); // of jobs that share a node
    this.canvas.style.height = Math.round(HEAD + 26 + Math.min(Math.max(nodes * lanes * (nodes <= 24 ? 16 : 10), 120), innerWidth < 700 ? 360 : 520)) + "px";
    view.changed();
  }

  // fitting returns a window length in which most running jobs end and some waiting jobs start.
  fitting(now) {
    const ends = this.feed.state.jobs.filter(j => j.start && (j.holds || j.rank <= 40)).map(j => (j.holds ? j.end : j.start) - now).filter(t => t > 0).sort((a, b) => a - b);
    const far = ends.length ? ends[Math.floor(0.85 * (ends.length - 1))] * 1.25 : HOUR;
    return Math.min(Math.max(far * 4 / 3, 10 * 60), 48 * HOUR);
  }

  all() {
    const seen = this.list.filter(r => r.what !== PAST || r.to >= this.feed.now() - 12 * HOUR);
    const from = seen.reduce((least, r) => Math.min(least, r.from), Infinity), to = seen.reduce((most, r) => Math.max(most, r.to), -Infinity), more = (to - from) * 0.02;
    if (to > from) this.view.show(from - more, to + more, 0, this.view.rows);
  }

  home() {
    this.view.follow(this.fitting(this.feed.now()));
    this.view.changed();
  }

  draw() {
    if (!this.feed.state) return;
    const begun = performance.now(), { view } = this, now = this.feed.now();
    if (view.follows) view.follow();
    super.draw();
    this.present(this.canvas.getContext("2d"), now);
    Object.assign(this.canvas.dataset, { took: (performance.now() - begun).toFixed(1), rects: this.list.length });
    document.getElementById("window").textContent = clock(view.from, now) + " to " + clock(view.to, now) + (this.left ? " · " + count(this.left, "planned job") + " more than can be drawn" : "");
  }

  frame(pen, width, height) {
    const { nodes } = this.feed.state, longest = nodes.length <= 400 ? Math.max(...nodes.map(n => pen.measureText(n.name).width), 10) : 40;
    const left = Math.min(Math.max(longest + 16, 30), width * 0.3), bottom = height - 26;
    return { left, plot: width - EDGE - left, top: HEAD, bottom, names: (bottom - HEAD) / 13 };
  }

  ticks(from, to, most) { return ticks(from, to, most); }
  rowName(row) { return this.feed.state.nodes[row].name; }

  // under draws nodes that are out of service, and reservations.
  under(pen) {
    const { state, row } = this.feed, now = this.feed.now(), { left, plot } = this.box;
    const keep = (at, from, to) => pen.fillRect(from, this.y(at), to - from, this.y(1) - this.y(0));
    pen.fillStyle = theme.away;
    state.nodes.forEach((n, i) => { if (n.out) keep(i, Math.max(left, this.x(now)), left + plot); });
    for (const c of state.closed) for (const n of hosts(c.nodes)) if (row.has(n)) keep(row.get(n), this.x(Math.max(c.start, now)), c.end ? this.x(c.end) : left + plot);
  }

  // present draws the line at the present second.
  present(pen, now) {
    const { left, plot, top, bottom } = this.box, x = this.x(now);
    if (x < left || x > left + plot) return;
    pen.fillStyle = theme.accent;
    pen.fillRect(Math.round(x) - 0.75, top - 3, 1.5, bottom - top + 3);
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    pen.font = "600 11px " + theme.font;
    pen.fillText("now", Math.min(Math.max(x, left + 12), left + plot - 12), top - 4);
  }

  paint(pen, i, x, y, w, h) {
    const { job, what } = this.list[i], colour = shade(job.kind, job.id), dim = this.chosen(job) ? 1 : 0.22;
    pen.globalAlpha = dim * (what === HELD ? 1 : what === PAST ? 0.5 : what === PLANNED ? 0.14 : job.kind === "ordinary" ? 0.3 : 0.62);
    pen.fillStyle = pen.strokeStyle = colour;
    pen.fillRect(x, y, w, h);
    if (what === PLANNED && w > 4 && h > 4) {
      pen.globalAlpha = 0.9 * dim;
      pen.setLineDash([4, 3]);
      pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      pen.setLineDash([]);
    }
    pen.globalAlpha = 1;
    if (!job.slip || what === PAST || h <= 3) return;
    pen.fillStyle = theme.late;
    pen.fillRect(x, y, w, Math.min(2.5, h / 3));
  }

  // label returns what identifies the label of a rectangle, or null. A job gets one label for what it holds and one for what it will hold.
  label(i) {
    const { job, what } = this.list[i];
    return this.chosen(job) ? job.id + " " + what : null;
  }

  name(i) {
    const { job, what } = this.list[i], ink = what === HELD ? readable(shade(job.kind, job.id)) : theme.ink;
    return job.name ? [ink, job.id + " " + job.name, job.id] : [ink, job.id];
  }

  words(j, what) {
    const now = this.feed.now(), nodes = what === PAST ? hosts(j.nodes).length : j.size;
    const lines = [who(j, this.feed.state), kindName(j.kind) + (j.phase ? ", " + j.phase : "") + (nodes ? ", " + count(nodes, "node") : "")];
    if (what === PAST) lines.push("held " + j.nodes + ", " + clock(j.from, now) + " to " + clock(j.to, now));
    else if (j.holds) lines.push("since " + clock(j.start, now) + (j.end ? (j.kind === "ordinary" ? ", at the latest until " : ", promised until ") + clock(j.end, now) + " (" + away(j.end, now) + ")" : ", without a time limit"));
    else if (j.start) lines.push("planned at " + (j.soon ? "any moment" : clock(j.start, now) + " (" + away(j.start, now) + ")") + (j.end ? ", for " + span(j.end - j.start) : ""));
    if (j.plan && j.plan.length > 1) lines.push(j.plan.map(([d, n]) => n + " × " + span(d)).join(", "));
    if (j.slip) lines.push("its promise was broken: " + span(j.slip) + " later, " + j.cause);
    return lines;
  }

  tell(_, at, i) {
    const { job, what } = this.list[i], lines = this.words(job, what);
    this.showTip(at, lines.join("\n"), () => this.tip.replaceChildren(...lines.map((text, k) => {
      const line = document.createElement(k ? "span" : "b");
      line.textContent = text;
      return line;
    })));
  }

  order() { return this.feed.state.jobs.filter(j => (j.holds || j.rank && j.start) && this.chosen(j)).map(j => j.id); }

  begins(order, by) { return by > 0 ? 0 : order.length - 1; }

  reveal(id) {
    const j = this.feed.jobs.get(id), { view } = this, length = view.to - view.from;
    if (j.start > view.to || j.holds && j.end && j.end < view.from) view.show(j.start - length / 3, j.start + length * 2 / 3);
    document.getElementById("gantt-says").textContent = this.words(j, j.holds ? HELD : PLANNED).join("; ");
  }

  open(id) { if (id >= 0) location.href = jobLink(id); }

  // click opens a job's page. On touch screens the first tap shows the job's details.
  click(at, touch) {
    const job = this.job(at);
    if (!touch || this.hovered === job && !this.tip.hidden) this.open(job);
    else this.hover(at);
  }
}
