// The map of nodes: a square for each node, in the colors of its jobs.

import { away, clock, count, hosts, jobLink, kindName, who } from "./words.js";
import { fit, readable, surface } from "./charts.js";
import { shade, theme } from "./theme.js";

export class NodeMap {
  constructor(feed, chosen) {
    this.feed = feed;
    this.chosen = chosen;
    this.canvas = document.getElementById("nodes");
    this.says = document.getElementById("node-says");
    this.at = -1;
    this.hands();
  }

  arrived() {
    const { state, row } = this.feed;
    this.holders = state.nodes.map(() => []);
    for (const j of state.jobs) if (j.holds) for (const n of hosts(j.nodes)) if (row.has(n)) this.holders[row.get(n)].push(j);
    const gone = state.nodes.filter(n => n.state === "lost" || n.state === "away").length, asleep = state.nodes.filter(n => n.state === "asleep").length;
    const held = this.holders.filter(all => all.length).length, shared = this.holders.filter(all => all.length > 1).length;
    const free = state.nodes.filter((n, i) => !this.holders[i].length && n.state !== "lost" && n.state !== "away").length;
    document.getElementById("map-sum").textContent = [count(held, "node") + " in use", free + " free", shared && shared + " shared by jobs", gone && gone + " out of service", asleep && asleep + " asleep"].filter(Boolean).join(" · ");
    this.draw();
    if (this.at >= 0) this.tell();
  }

  // measure computes how many squares are in a line, and their size.
  measure(width) {
    const n = this.holders.length, named = n <= 400;
    this.side = named ? Math.max(34, Math.min(64, Math.max(...this.feed.state.nodes.map(x => x.name.length)) * 7 + 10)) : n <= 2000 ? 16 : 9;
    this.tall = named ? 26 : this.side;
    this.across = Math.max(1, Math.floor(width / this.side));
    return Math.ceil(n / this.across) * this.tall;
  }

  draw() {
    if (this.pending || !this.holders) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    const high = this.measure(this.canvas.getBoundingClientRect().width);
    this.canvas.style.height = high + "px";
    const { pen } = surface(this.canvas, theme.font), { nodes } = this.feed.state;
    pen.font = "11px " + theme.font;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    nodes.forEach((n, i) => {
      const all = this.holders[i], x = i % this.across * this.side, y = Math.floor(i / this.across) * this.tall, w = this.side - 2, h = this.tall - 2;
      const gone = n.state === "lost" || n.state === "away";
      let ink = theme.soft;
      pen.fillStyle = gone ? theme.away : theme.wash;
      if (!all.length) pen.fillRect(x, y, w, h);
      all.forEach((j, k) => {
        const of = this.chosen(j), colour = shade(j.kind, j.id);
        pen.fillStyle = colour;
        pen.globalAlpha = of ? 1 : 0.22;
        ink = of ? readable(colour) : theme.ink;
        const left = x + Math.round(k * w / all.length), wide = x + Math.round((k + 1) * w / all.length) - left;
        pen.fillRect(left, y, Math.max(1, k + 1 < all.length && wide > 3 ? wide - 1 : wide), h);
        pen.globalAlpha = 1;
        if (!j.slip) return;
        pen.fillStyle = theme.late;
        pen.fillRect(left, y, wide, 3);
      });
      pen.lineWidth = 1;
      pen.strokeStyle = gone ? theme.late : theme.line;
      if (!all.length || gone) pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      if (gone && w > 12) { // a mark, because color alone is not accessible
        pen.beginPath();
        pen.moveTo(x + 1, y + h - 1);
        pen.lineTo(x + w - 1, y + 1);
        pen.stroke();
      }
      if (this.tall >= 24) {
        const name = fit(pen, n.name, w - 4);
        if (all.length > 1) { // a mark on several colors
          const wide = Math.min(w, pen.measureText(name).width + 6);
          pen.fillStyle = theme.card;
          pen.fillRect(x + (w - wide) / 2, y + 5, wide, h - 10);
          ink = theme.ink;
        }
        pen.fillStyle = ink;
        pen.fillText(name, x + w / 2, y + h / 2 + 0.5);
      }
      if (i === this.at) {
        pen.strokeStyle = theme.ink;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, w - 2, h - 2);
      }
    });
  }

  tell() {
    const n = this.feed.state.nodes[this.at], all = this.holders[this.at], now = this.feed.now();
    if (!n) return;
    let text = n.name + ": " + (all.length > 1 ? count(all.length, "job") + ": " : "");
    if (all.length) text += all.map(j => who(j, this.feed.state) + ", " + kindName(j.kind) + ", until " + (j.end ? clock(j.end, now) + " (" + away(j.end, now) + ")" : "it ends itself")).join("; ");
    else if (n.state === "asleep") text += "powered down, it boots when it is needed";
    else if (!n.state) text += "free";
    if (n.state === "lost" || n.state === "away") text += (all.length ? "; " : "") + (n.state === "lost" ? "does not answer" : "out of service") + (n.why ? " (" + n.why + ")" : "");
    this.says.textContent = text + ".";
  }

  go(to) {
    this.at = Math.min(Math.max(to, 0), this.holders.length - 1);
    this.tell();
    this.draw();
  }

  // open opens the page of a node's first job.
  open(at) {
    const [j] = this.holders && this.holders[at] || [];
    if (j) location.href = jobLink(j.id);
  }

  hands() {
    const { canvas } = this;
    const under = e => {
      const box = canvas.getBoundingClientRect(), column = Math.floor((e.clientX - box.left) / this.side), at = Math.floor((e.clientY - box.top) / this.tall) * this.across + column;
      return this.holders && column < this.across && at < this.holders.length ? at : -1;
    };
    canvas.addEventListener("pointermove", e => { const at = under(e); if (at >= 0 && at !== this.at) this.go(at); });
    canvas.addEventListener("click", e => {
      this.open(under(e));
    });
    canvas.addEventListener("keydown", e => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.across, ArrowDown: this.across }[e.key];
      if (by && this.holders) {
        e.preventDefault();
        this.go(this.at < 0 ? 0 : this.at + by);
      } else if (e.key === "Enter") this.open(this.at);
    });
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }
}
