import { fit, stepOf, surface, timeAxis } from "./draw.js";

// Gantt draws rows from top to bottom, time from left to right, and each job as its rectangles. It reacts to wheel, drag,
// pinch and keys. A page extends it with these:
//
// rects: the rectangles (Rects); null while they are unknown.
// frame(pen, width, height): returns left, plot, top and bottom of the plot, and the maximum number of named rows
// (names).
// ticks(from, to, most): returns the ticks of the time axis.
// rowName(row): returns the name of a row.
// paint(pen, i, x, y, w, h): fills rectangle i, or a part of it.
// label(i): returns a key, or null for no name. The widest rectangle of a key gets a name.
// name(i): returns the color of a name, the name, and shorter names if it does not fit.
// order(), begins(order, by): return the jobs in the order of the keys N and P, and where these keys begin.
// reveal(job): moves the window to a job and shows the tip.
// tell(job, at, i): fills the tip with the facts about a job and shows it (showTip).
export class Gantt {
  constructor(canvas, tip, view, theme) {
    Object.assign(this, { canvas, tip, view, theme, hovered: -1, selected: -1, count: 0, most: Infinity });
    this.box = { left: 0, plot: 1, top: 0, bottom: 1 };
    this.listen();
  }

  draw() {
    const surfaced = surface(this.canvas, this.theme.font), { pen, width, height } = surfaced, { view, theme } = this;
    const { left, plot, top, bottom } = this.box = this.frame(pen, width, height);
    pen.fillStyle = theme.wash;
    pen.fillRect(left, top, plot, bottom - top);
    timeAxis(pen, theme, this.ticks(view.from, view.to, plot / 84), { left, plot, from: view.from, to: view.to }, this.lined ? top : bottom, bottom, true);
    this.nameRows(pen);
    pen.save();
    pen.beginPath();
    pen.rect(left, top, plot, bottom - top);
    pen.clip();
    this.under(pen);
    if (this.rects) {
      this.count = this.rects.between(view.from, view.to, view.top, view.bottom, this.most);
      if (this.count <= this.most) this.drawEach(pen);
      else this.sumUp(surfaced);
      for (const job of new Set([this.selected, this.hovered])) {
        if (this.rects.ownOf(job).length) this.drawChosen(pen, job);
      }
    }
    pen.restore();
    Object.assign(this.canvas.dataset, { from: view.from, to: view.to, top: view.top, bottom: view.bottom });
  }

  x(t) {
    const { box, view } = this;
    return box.left + (t - view.from) / (view.to - view.from) * box.plot;
  }
  y(row) {
    const { box, view } = this;
    return box.top + (row - view.top) / (view.bottom - view.top) * (box.bottom - box.top);
  }

  // under draws below the rectangles. outline draws on them, but below their names. marks draws on top of
  // everything.
  under() {}
  outline() {}
  marks() {}

  // ends reports whether there is a gap after a rectangle.
  ends() { return true; }

  nameRows(pen) {
    const { left, top, bottom, names } = this.box, { view } = this, rows = view.bottom - view.top, step = stepOf(rows, names);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillStyle = this.theme.soft;
    for (let n = Math.ceil(view.top / step) * step; n < view.bottom; n += step) {
      const y = this.y(n) + Math.min(this.named || step === 1 ? (bottom - top) / rows / 2 : 0, 40);
      if (y < top + 4 && n > view.top) continue;
      pen.fillText(fit(pen, this.rowName(n), left - 8), left - 8, Math.min(bottom - 6, Math.max(y, top + 6)));
    }
  }

  // edges returns a rectangle on the screen, on whole pixels if it is large enough, so that neighbors meet without a
  // seam.
  edges(i) {
    const { rects: r, box } = this;
    let x0 = this.x(r.from[i]), x1 = this.x(r.to[i]), y0 = this.y(r.top[i]), y1 = this.y(r.bottom[i]);
    x0 = Math.max(x0, box.left - 9);
    x1 = Math.min(x1, box.left + box.plot + 9);
    if (x1 - x0 > 2) [x0, x1] = [Math.round(x0), Math.round(x1)];
    if (y1 - y0 > 2) [y0, y1] = [Math.round(y0), Math.round(y1)];
    return [x0, y0, Math.max(0.4, x1 - x0), Math.max(0.4, y1 - y0)];
  }

  // drawEach draws each rectangle with a gap to its neighbors, and names those that have room for a name.
  drawEach(pen) {
    const gap = this.y(1) - this.y(0) >= 4 ? 1 : 0, widest = new Map();
    for (let k = 0; k < this.count; k++) {
      const i = this.rects.found[k], [x, y, w, h] = this.edges(i);
      this.paint(pen, i, x, y, w - (w > 3 && this.ends(i) ? 1 : 0), h > 3 ? h - gap : h);
      if (h <= 14 || w <= 20) continue;
      const key = this.label(i);
      if (key !== null && !(widest.has(key) && widest.get(key)[3] >= w)) widest.set(key, [i, x, y, w, h]);
    }
    this.outline(pen);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const { left, plot } = this.box;
    for (const [i, x, y, w, h] of widest.values()) {
      const x0 = Math.max(left, x), x1 = Math.min(left + plot, x + w), [ink, ...names] = this.name(i);
      pen.fillStyle = ink;
      pen.fillText(names.find(name => pen.measureText(name).width <= x1 - x0 - 8) || "", (x0 + x1) / 2, y + h / 2);
    }
    this.marks(pen);
  }

  // staircase draws one job with a border around all its rectangles, but none between them.
  staircase(pen, job, wide) {
    const { rects: r, view, theme } = this;
    const own = r.ownOf(job).filter(i => r.to[i] > view.from && r.from[i] < view.to).map(i => [i, ...this.edges(i)]);
    for (const [style, by] of [[theme.ink, wide], [theme.wash, 0]]) {
      pen.fillStyle = style;
      for (const [, x, y, w, h] of own) pen.fillRect(x - by, y - by, w + 2 * by, h + 2 * by);
    }
    for (const rect of own) this.paint(pen, ...rect);
  }

  // drawChosen highlights the job under the pointer, and the chosen job.
  drawChosen(pen, job) { this.staircase(pen, job, job === this.selected ? 2 : 1.5); }

  // place returns what is at an event: the place on the canvas, its instant and row, and its rectangle.
  place(event) {
    const stage = this.canvas.getBoundingClientRect(), x = event.clientX - stage.left, y = event.clientY - stage.top;
    const { left, plot, top, bottom } = this.box, { view } = this, t = view.from + (x - left) / plot * (view.to - view.from);
    const row = view.top + (y - top) / (bottom - top) * (view.bottom - view.top), within = x >= left && x < left + plot && y >= top && y < bottom;
    return { x, y, t, row, within, i: within && this.rects ? this.rects.at(t, row) : -1 };
  }

  // job returns the job at a place, or −1.
  job({ i }) { return i < 0 ? -1 : this.rects.job[i]; }

  choose(job) {
    this.selected = job;
    if (job < 0) this.tip.hidden = true;
    this.view.changed();
  }

  // click chooses a job. With touch it also shows the tip, because no pointer hovered over the job before.
  click(at, touch) {
    this.choose(this.job(at));
    if (touch) this.hover(at);
  }

  hover(at) {
    const job = this.hovered = at ? this.job(at) : -1;
    this.view.hover = at && at.within ? at.t : null;
    this.canvas.classList.toggle("on", job >= 0);
    if (job < 0) this.tip.hidden = true;
    else this.tell(job, at, at.i);
    this.view.changed();
  }

  // showTip moves the tip next to a place. It fills the tip only if its text changes.
  showTip(at, says, fill) {
    const { tip } = this;
    if (this.says !== says) fill();
    if (this.says !== says || tip.hidden) {
      this.says = says;
      tip.hidden = false;
      this.tipSize = tip.getBoundingClientRect();
    }
    const { width, height } = this.tipSize, stage = this.canvas.getBoundingClientRect();
    const left = at.x + 16 + width > stage.width ? at.x - 16 - width : at.x + 16;
    const top = stage.top + at.y + 18 + height > window.innerHeight ? Math.max(at.y - height - 12, -stage.top + 4) : at.y + 18;
    tip.style.transform = `translate(${Math.max(0, Math.round(left))}px, ${Math.round(top)}px)`;
  }

  // step goes to the job before or after the chosen one. If no job is chosen, it goes to the job at the
  // index that `begins` returns.
  step(by) {
    const order = this.order(), at = order.indexOf(this.selected);
    if (!order.length) return;
    const to = at < 0 ? this.begins(order, by) : at + by;
    this.choose(order[Math.min(order.length - 1, Math.max(0, to))]);
    this.reveal(this.selected);
  }

  open() {}
  all() { this.view.all(); }
  home() { this.all(); }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { view } = this, time = (view.to - view.from) / 8, rows = (view.bottom - view.top) / 8;
    const run = {
      ArrowLeft: () => view.pan(-time), ArrowRight: () => view.pan(time), ArrowUp: () => view.pan(0, -rows), ArrowDown: () => view.pan(0, rows),
      "+": () => view.zoom(0.6), "=": () => view.zoom(0.6), "-": () => view.zoom(1 / 0.6), _: () => view.zoom(1 / 0.6),
      0: () => this.all(), Home: () => this.home(), n: () => this.step(1), p: () => this.step(-1),
      Enter: () => this.open(this.selected), Escape: () => this.choose(-1),
    }[event.key.length > 1 ? event.key : event.key.toLowerCase()];
    if (!run) return;
    event.preventDefault();
    run();
  }

  wheel(event) {
    const { view } = this, at = this.place(event), lines = event.deltaMode === 1 ? 16 : 1, dx = event.deltaX * lines, dy = event.deltaY * lines;
    if (event.shiftKey) view.zoomRows(Math.exp((dy || dx) * 0.002), at.row);
    else if (Math.abs(dx) > Math.abs(dy)) view.pan(dx / this.box.plot * (view.to - view.from));
    else view.zoom(Math.exp(dy * 0.002), at.t);
  }

  // drag follows one finger, or the distance between two.
  drag(fingers, id, now) {
    const { view, box } = this, before = fingers.get(id), second = (view.to - view.from) / box.plot;
    if (fingers.size === 2) {
      const [[, other]] = [...fingers].filter(([k]) => k !== id);
      const factor = Math.max(10, Math.abs(before.x - other.x)) / Math.max(10, Math.abs(now.x - other.x));
      return view.zoom(Math.min(2, Math.max(0.5, factor)), view.from + ((now.x + other.x) / 2 - box.left) * second);
    }
    this.tip.hidden = true;
    this.canvas.classList.add("moving");
    view.pan((before.x - now.x) * second, (before.y - now.y) / (box.bottom - box.top) * (view.bottom - view.top));
  }

  listen() {
    const { canvas } = this, fingers = new Map();
    let scrolled = -Infinity, moved = 0; // a page that is being scrolled continues to scroll when the chart comes under the pointer
    window.addEventListener("wheel", event => { if (event.target !== canvas) scrolled = event.timeStamp; }, { passive: true });
    canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && (this.scrolls ? !event.shiftKey : event.timeStamp - scrolled < 400)) {
        scrolled = event.timeStamp;
        return;
      }
      event.preventDefault();
      this.wheel(event);
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => {
      fingers.set(event.pointerId, this.place(event));
      moved = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      const now = this.place(event), before = fingers.get(event.pointerId);
      if (!before) return this.hover(now);
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (fingers.size < 2 && moved <= 3) return;
      this.drag(fingers, event.pointerId, now);
      fingers.set(event.pointerId, now);
    });
    const lift = event => {
      const down = fingers.delete(event.pointerId);
      canvas.classList.remove("moving");
      if (down && moved <= 3 && event.type === "pointerup") this.click(this.place(event), event.pointerType === "touch");
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", event => { if (event.pointerType !== "touch") this.hover(null); });
    canvas.addEventListener("dblclick", event => this.view.zoom(0.4, this.place(event).t));
    canvas.addEventListener("keydown", event => this.key(event));
  }
}
