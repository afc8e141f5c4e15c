// The map of nodes: a square a node, in the colour of who has it.

import { away, clock, count, hosts, jobLink, kindName, who } from "./words.js";
import { readable, shade, surface, theme, tint } from "./theme.js";

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
    this.holder = new Array(state.nodes.length).fill(null);
    for (const j of state.jobs) if (j.holds) for (const n of hosts(j.nodes)) if (row.has(n)) this.holder[row.get(n)] = j;
    const gone = state.nodes.filter(n => n.state === "lost" || n.state === "away").length, asleep = state.nodes.filter(n => n.state === "asleep").length;
    const held = this.holder.filter(Boolean).length;
    const free = state.nodes.filter((n, i) => !this.holder[i] && n.state !== "lost" && n.state !== "away").length;
    document.getElementById("map-sum").textContent = [count(held, "node") + " in use", free + " free", gone && gone + " out of service", asleep && asleep + " asleep"].filter(Boolean).join(" · ");
    this.draw();
    if (this.at >= 0) this.tell();
  }

  // measure is how many squares are in a line, and how large they are.
  measure(width) {
    const n = this.holder.length, named = n <= 400;
    this.side = named ? Math.max(34, Math.min(64, Math.max(...this.feed.state.nodes.map(x => x.name.length)) * 7 + 10)) : n <= 2000 ? 16 : 9;
    this.tall = named ? 26 : this.side;
    this.across = Math.max(1, Math.floor(width / this.side));
    return Math.ceil(n / this.across) * this.tall;
  }

  draw() {
    if (this.pending || !this.holder) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    const high = this.measure(this.canvas.getBoundingClientRect().width);
    this.canvas.style.height = high + "px";
    const { pen } = surface(this.canvas), { nodes } = this.feed.state;
    pen.font = "11px " + theme.font;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    nodes.forEach((n, i) => {
      const j = this.holder[i], x = i % this.across * this.side, y = Math.floor(i / this.across) * this.tall, w = this.side - 2, h = this.tall - 2;
      const gone = n.state === "lost" || n.state === "away";
      let ink = theme.soft;
      if (j) {
        const of = this.chosen(j), colour = shade(j.kind, j.id);
        pen.fillStyle = tint(colour, of ? 1 : 0.22);
        ink = of ? readable(colour) : theme.ink;
      } else pen.fillStyle = gone ? theme.away : theme.wash;
      pen.fillRect(x, y, w, h);
      pen.lineWidth = 1;
      pen.strokeStyle = gone ? theme.late : theme.line;
      if (!j || gone) pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      if (gone && w > 12) { // not by colour alone
        pen.beginPath();
        pen.moveTo(x + 1, y + h - 1);
        pen.lineTo(x + w - 1, y + 1);
        pen.stroke();
      }
      if (j && j.slip) {
        pen.fillStyle = theme.late;
        pen.fillRect(x, y, w, 3);
      }
      if (this.tall >= 24) {
        pen.fillStyle = ink;
        pen.fillText(fit(pen, n.name, w - 4), x + w / 2, y + h / 2 + 0.5);
      }
      if (i === this.at) {
        pen.strokeStyle = theme.ink;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, w - 2, h - 2);
      }
    });
  }

  tell() {
    const n = this.feed.state.nodes[this.at], j = this.holder[this.at], now = this.feed.now();
    if (!n) return;
    let text = n.name + ": ";
    if (j) text += who(j, this.feed.state) + ", " + kindName(j.kind) + ", until " + (j.end ? clock(j.end, now) + " (" + away(j.end, now) + ")" : "it ends itself");
    else if (n.state === "asleep") text += "powered down, it boots when it is needed";
    else if (!n.state) text += "free";
    if (n.state === "lost" || n.state === "away") text += (j ? "; " : "") + (n.state === "lost" ? "does not answer" : "out of service") + (n.why ? " (" + n.why + ")" : "");
    this.says.textContent = text + ".";
  }

  go(to) {
    this.at = Math.min(Math.max(to, 0), this.holder.length - 1);
    this.tell();
    this.draw();
  }

  hands() {
    const { canvas } = this;
    const under = e => {
      const box = canvas.getBoundingClientRect(), column = Math.floor((e.clientX - box.left) / this.side), at = Math.floor((e.clientY - box.top) / this.tall) * this.across + column;
      return this.holder && column < this.across && at < this.holder.length ? at : -1;
    };
    canvas.addEventListener("pointermove", e => { const at = under(e); if (at >= 0 && at !== this.at) this.go(at); });
    canvas.addEventListener("click", e => {
      const at = under(e), j = at >= 0 && this.holder[at];
      if (j) location.href = jobLink(j.id);
    });
    canvas.addEventListener("keydown", e => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.across, ArrowDown: this.across }[e.key];
      if (by && this.holder) {
        e.preventDefault();
        this.go(this.at < 0 ? 0 : this.at + by);
      } else if (e.key === "Enter" && this.at >= 0 && this.holder[this.at]) location.href = jobLink(this.holder[this.at].id);
    });
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }
}

function fit(pen, text, wide) {
  while (text.length > 2 && pen.measureText(text).width > wide) text = "…" + text.slice(2);
  return text;
}
