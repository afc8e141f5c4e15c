// The Gantt chart: nodes from top to bottom, time from left to right; what was held, what is held now, what is promised to those that run and planned
// for those that wait.

import { clock, count, hosts, kindName, jobLink, span, ticks, who, away } from "./words.js";
import { layout, PAST, HELD, PROMISED, PLANNED } from "./place.js";
import { readable, shade, surface, theme, tint } from "./theme.js";

const EDGE = 10, AXIS = 24, HEAD = 14, HOUR = 3600;

export class Gantt {
  constructor(feed, chosen) {
    this.feed = feed;
    this.chosen = chosen; // whether a job is of those that are looked at
    this.canvas = document.getElementById("gantt");
    this.tip = document.getElementById("tip");
    this.says = document.getElementById("gantt-says");
    this.rects = [];
    this.follows = true; // now
    this.length = 0;
    this.hovered = this.selected = null;
    this.hands();
  }

  // arrived takes in what is new.
  arrived() {
    const { feed } = this, now = feed.now();
    const { rects, left } = layout(feed, now, hosts);
    this.rects = rects;
    this.left = left;
    if (!this.length) this.length = this.fitting(now);
    const nodes = feed.state.nodes.length, lanes = rects.reduce((most, r) => Math.max(most, 1 / (r.bottom - r.top)), 1); // of jobs that share a node
    this.canvas.style.height = Math.round(HEAD + AXIS + Math.min(Math.max(nodes * lanes * (nodes <= 24 ? 16 : 10), 120), innerWidth < 700 ? 360 : 520)) + "px";
    this.draw();
  }

  // fitting is a length of time in which most of what runs ends, and some of what waits begins.
  fitting(now) {
    const ends = this.feed.state.jobs.filter(j => j.start && (j.holds || j.rank <= 40)).map(j => (j.holds ? j.end : j.start) - now).filter(t => t > 0).sort((a, b) => a - b);
    const far = ends.length ? ends[Math.floor(0.85 * (ends.length - 1))] * 1.25 : HOUR;
    return Math.min(Math.max(far * 4 / 3, 10 * 60), 48 * HOUR);
  }

  window() {
    const now = this.feed.now();
    if (this.follows) this.from = now - this.length / 4;
    return [this.from, this.from + this.length, now];
  }

  show(from, length) {
    const now = this.feed.now();
    this.length = Math.min(Math.max(length, 60), 90 * 24 * HOUR);
    this.from = Math.min(Math.max(from, now - 30 * 24 * HOUR), now + 90 * 24 * HOUR);
    this.follows = false;
    this.draw();
  }

  zoom(factor, at) {
    if (this.follows && at === undefined) {
      this.length = Math.min(Math.max(this.length * factor, 60), 90 * 24 * HOUR);
      return this.draw();
    }
    const [from, to] = this.window();
    at = at === undefined ? (from + to) / 2 : at;
    this.show(at - (at - from) * factor, (to - from) * factor);
  }

  all() {
    let from = Infinity, to = -Infinity;
    for (const r of this.rects) {
      if (r.what === PAST && r.to < this.feed.now() - 12 * HOUR) continue;
      from = Math.min(from, r.from);
      to = Math.max(to, r.to);
    }
    if (to > from) this.show(from - (to - from) * 0.02, (to - from) * 1.04);
  }

  toNow() {
    this.follows = true;
    this.length = this.fitting(this.feed.now());
    this.draw();
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    if (!this.feed.state) return;
    const begun = performance.now();
    const { pen, width, height } = surface(this.canvas);
    const names = this.feed.state.nodes, [from, to, now] = this.window();
    pen.font = "11.5px " + theme.font;
    const longest = names.length <= 400 ? Math.max(...names.map(n => pen.measureText(n.name).width), 10) : 40;
    const left = Math.min(Math.max(longest + 16, 30), width * 0.3);
    this.box = { left, right: width - EDGE, top: HEAD, bottom: height - AXIS, from, to };
    const { top, bottom, right } = this.box, rowHigh = (bottom - top) / Math.max(1, names.length);
    this.high = rowHigh;
    pen.fillStyle = theme.wash;
    pen.fillRect(left, top, right - left, bottom - top);
    this.axis(pen, names, rowHigh);
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
    this.away(pen, names, rowHigh, now);
    const labels = new Map();
    for (const r of this.rects) if (r.to > from && r.from < to && r.what !== PLANNED) this.rect(pen, r, labels);
    for (const r of this.rects) if (r.to > from && r.from < to && r.what === PLANNED) this.rect(pen, r, labels);
    this.lit(pen);
    this.label(pen, labels);
    pen.restore();
    const x = this.x(now);
    if (x >= left && x <= right) {
      pen.fillStyle = theme.accent;
      pen.fillRect(Math.round(x) - 0.75, top - 3, 1.5, bottom - top + 3);
      pen.textAlign = "center";
      pen.textBaseline = "alphabetic";
      pen.font = "600 11px " + theme.font;
      pen.fillText("now", Math.min(Math.max(x, left + 12), right - 12), top - 4);
    }
    this.canvas.dataset.took = (performance.now() - begun).toFixed(1);
    this.canvas.dataset.rects = this.rects.length;
    document.getElementById("window").textContent = clock(from, now) + " to " + clock(to, now) + (this.left ? " · " + count(this.left, "planned job") + " more than can be drawn" : "");
  }

  x(t) { return this.box.left + (t - this.box.from) / (this.box.to - this.box.from) * (this.box.right - this.box.left); }
  y(row) { return this.box.top + row * this.high; }
  time(x) { return this.box.from + (x - this.box.left) / (this.box.right - this.box.left) * (this.box.to - this.box.from); }

  axis(pen, names, rowHigh) {
    const { left, right, top, bottom, from, to } = this.box;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.fillStyle = theme.soft;
    const every = Math.max(1, Math.ceil(13 / rowHigh));
    for (let i = 0; i < names.length; i += every) {
      let text = names[i].name;
      while (text.length > 4 && pen.measureText(text).width > left - 10) text = text.slice(0, -2) + "…";
      pen.fillText(text, left - 6, this.y(i) + Math.min(rowHigh, 13) / 2);
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    let free = -Infinity;
    for (const t of ticks(from, to, (right - left) / 76)) {
      const x = this.x(t.t);
      pen.fillStyle = t.strong ? theme.faint : theme.line;
      pen.fillRect(Math.round(x), top, 1, bottom - top + 4);
      pen.font = (t.strong ? "600 " : "") + "11.5px " + theme.font;
      const half = pen.measureText(t.text).width / 2;
      if (x - half < free || x - half < left - 20 || x + half > right + EDGE) continue;
      free = x + half + 8;
      pen.fillStyle = theme.soft;
      pen.fillText(t.text, x, bottom + 7);
    }
  }

  // away shows nodes that are out of service, and those that reservations keep.
  away(pen, names, rowHigh, now) {
    const { left, right } = this.box;
    pen.fillStyle = theme.away;
    names.forEach((n, i) => {
      if (n.out) pen.fillRect(Math.max(left, this.x(now)), this.y(i), right - left, rowHigh);
    });
    for (const c of this.feed.state.closed) {
      const x0 = this.x(Math.max(c.start, now)), x1 = c.end ? this.x(c.end) : right;
      for (const n of hosts(c.nodes)) {
        const row = this.feed.row.get(n);
        if (row !== undefined) pen.fillRect(x0, this.y(row), x1 - x0, rowHigh);
      }
    }
  }

  edges(r) {
    const { left, right } = this.box;
    let x0 = Math.max(this.x(r.from), left - 4), x1 = Math.min(this.x(r.to), right + 4), y0 = this.y(r.top), y1 = this.y(r.bottom);
    if (x1 - x0 > 2) [x0, x1] = [Math.round(x0), Math.round(x1)];
    if (y1 - y0 > 2) [y0, y1] = [Math.round(y0), Math.round(y1)];
    return [x0, y0, Math.max(0.5, x1 - x0), Math.max(0.5, y1 - y0)];
  }

  rect(pen, r, labels) {
    const [x, y, w, h] = this.edges(r), of = this.chosen(r.job), colour = shade(r.job.kind, r.job.id);
    const gap = h > 5 ? 1 : 0, inner = w > 3 ? w - 1 : w;
    const dim = of ? 1 : 0.22;
    if (r.what === HELD) pen.fillStyle = tint(colour, dim);
    else if (r.what === PAST) pen.fillStyle = tint(colour, 0.5 * dim);
    else if (r.what === PROMISED) pen.fillStyle = tint(colour, (r.job.kind === "ordinary" ? 0.3 : 0.62) * dim);
    else pen.fillStyle = tint(colour, 0.14 * dim);
    pen.fillRect(x, y, inner, h - gap);
    if ((r.what === PLANNED || r.what === PROMISED) && w > 4 && h > 4) {
      pen.strokeStyle = tint(colour, 0.9 * dim);
      pen.lineWidth = 1;
      pen.setLineDash(r.what === PLANNED ? [4, 3] : []);
      if (r.what === PLANNED) pen.strokeRect(x + 0.5, y + 0.5, inner - 1, h - gap - 1);
      pen.setLineDash([]);
    }
    if (r.job.slip && r.what !== PAST && h > 3) {
      pen.fillStyle = theme.late;
      pen.fillRect(x, y, inner, Math.min(2.5, h / 3));
    }
    if (of && h > 11 && w > 22) {
      const key = r.job.id + " " + r.what, other = labels.get(key);
      if (!other || other[2] * other[3] < w * h) labels.set(key, [x, y, w, h, r]);
    }
  }

  // label names jobs where there is room, each once for what it has and once for what it will have.
  label(pen, labels) {
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.font = "11.5px " + theme.font;
    const { left, right } = this.box;
    for (const [x, y, w, h, r] of labels.values()) {
      const x0 = Math.max(x, left), x1 = Math.min(x + w, right), text = String(r.job.id);
      if (pen.measureText(text).width + 8 > x1 - x0) continue;
      pen.fillStyle = r.what === HELD ? readable(shade(r.job.kind, r.job.id)) : theme.ink;
      const name = r.job.name ? text + " " + r.job.name : text;
      pen.fillText(pen.measureText(name).width + 8 <= x1 - x0 ? name : text, x0 + 4, y + h / 2);
    }
  }

  // lit outlines the job that is pointed at, and the one that was stepped to.
  lit(pen) {
    for (const id of new Set([this.selected, this.hovered])) {
      if (id === null) continue;
      pen.strokeStyle = theme.ink;
      pen.lineWidth = 2;
      for (const r of this.rects) {
        if (r.job.id !== id || r.to < this.box.from || r.from > this.box.to) continue;
        const [x, y, w, h] = this.edges(r);
        pen.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1), Math.max(1, h - 1));
      }
    }
  }

  find(x, y) {
    if (!this.box || x < this.box.left || x > this.box.right || y < this.box.top || y > this.box.bottom) return null;
    const t = this.time(x), row = (y - this.box.top) / this.high;
    for (let i = this.rects.length - 1; i >= 0; i--) {
      const r = this.rects[i];
      if (r.top <= row && row < r.bottom && r.from <= t && t < r.to) return r;
    }
    return null;
  }

  words(r) {
    const { job: j } = r, now = this.feed.now(), nodes = r.what === PAST ? hosts(j.nodes).length : j.size;
    const lines = [who(j, this.feed.state), kindName(j.kind) + (j.phase ? ", " + j.phase : "") + (nodes ? ", " + count(nodes, "node") : "")];
    if (r.what === PAST) lines.push("held " + j.nodes + ", " + clock(j.from, now) + " to " + clock(j.to, now));
    else if (j.holds) lines.push("since " + clock(j.start, now) + (j.end ? (j.kind === "ordinary" ? ", at the latest until " : ", promised until ") + clock(j.end, now) + " (" + away(j.end, now) + ")" : ", without a time limit"));
    else if (j.start) lines.push("planned at " + (j.soon ? "any moment" : clock(j.start, now) + " (" + away(j.start, now) + ")") + (j.end ? ", for " + span(j.end - j.start) : ""));
    if (j.plan && j.plan.length > 1) lines.push(j.plan.map(([d, n]) => n + " × " + span(d)).join(", "));
    if (j.slip) lines.push("its promise was broken: " + span(j.slip) + " later, " + j.cause);
    return lines;
  }

  point(x, y) {
    const r = x === null ? null : this.find(x, y);
    const id = r ? r.job.id : null;
    if (id !== this.hovered) {
      this.hovered = id;
      this.draw();
    }
    this.canvas.classList.toggle("on", !!r);
    this.tip.hidden = !r;
    if (!r) return;
    this.tip.replaceChildren(...this.words(r).map((text, i) => {
      const line = document.createElement(i ? "span" : "b");
      line.textContent = text;
      return line;
    }));
    const stage = this.canvas.parentElement.getBoundingClientRect(), box = this.tip.getBoundingClientRect();
    this.tip.style.left = Math.max(0, Math.min(x + 14, stage.width - box.width - 4)) + "px";
    this.tip.style.top = (y + box.height + 24 > stage.height + 40 ? Math.max(0, y - box.height - 12) : y + 16) + "px";
  }

  // step goes to the next job of the chart, or the one before.
  step(by) {
    const ids = this.feed.state.jobs.filter(j => (j.holds || j.rank && j.start) && this.chosen(j)).map(j => j.id);
    if (!ids.length) return;
    const at = ids.indexOf(this.selected);
    this.selected = ids[(at < 0 ? (by > 0 ? 0 : ids.length - 1) : at + by + ids.length) % ids.length];
    const j = this.feed.jobs.get(this.selected), [from, to] = this.window();
    if (j.start > to || j.holds && j.end && j.end < from) this.show(j.start - this.length / 3, this.length);
    this.says.textContent = this.words({ job: j, what: j.holds ? HELD : PLANNED }).join("; ");
    this.draw();
  }

  open(id) { if (id !== null) location.href = jobLink(id); }

  hands() {
    const { canvas } = this;
    let drag = null;
    const at = e => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
    canvas.addEventListener("pointerdown", e => {
      const [x, y] = at(e);
      drag = { x, y, from: this.window()[0], moved: false };
      if (e.pointerType === "mouse") canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", e => {
      const [x, y] = at(e);
      if (drag && this.box && Math.abs(x - drag.x) > 4) {
        drag.moved = true;
        this.show(drag.from - (x - drag.x) / (this.box.right - this.box.left) * this.length, this.length);
      }
      if (e.pointerType === "mouse") this.point(x, y);
    });
    const up = e => {
      const [x, y] = at(e);
      if (drag && !drag.moved && e.type === "pointerup") {
        const r = this.find(x, y);
        if (r && e.pointerType === "mouse") this.open(r.job.id);
        else if (r && this.hovered === r.job.id && !this.tip.hidden) this.open(r.job.id); // a second tap
        else this.point(x, y);
      }
      drag = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", e => { if (e.pointerType === "mouse") this.point(null); });
    canvas.addEventListener("wheel", e => {
      if (!e.ctrlKey && !e.shiftKey) return; // the page's own
      e.preventDefault();
      this.zoom(Math.exp((e.deltaY || e.deltaX) / 400), this.time(at(e)[0]));
    }, { passive: false });
    canvas.addEventListener("keydown", e => {
      if (e.ctrlKey || e.altKey || e.metaKey) return;
      const far = this.length / 8;
      const keys = {
        ArrowLeft: () => this.show(this.window()[0] - far, this.length), ArrowRight: () => this.show(this.window()[0] + far, this.length),
        "+": () => this.zoom(0.7), "=": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7), 0: () => this.all(), Home: () => this.toNow(),
        n: () => this.step(1), p: () => this.step(-1), Enter: () => this.open(this.selected),
        Escape: () => { this.selected = null; this.point(null); this.draw(); },
      };
      const run = keys[e.key] || keys[e.key.toLowerCase()];
      if (!run) return;
      e.preventDefault();
      run();
    });
    for (const [id, run] of [["zoom-in", () => this.zoom(0.7)], ["zoom-out", () => this.zoom(1 / 0.7)], ["zoom-now", () => this.toNow()], ["zoom-all", () => this.all()]]) {
      document.getElementById(id).addEventListener("click", run);
    }
    new ResizeObserver(() => this.draw()).observe(canvas);
  }
}
