// The table of jobs. Of 10,000 rows the page contains only the visible ones and some around them.

import { away, clock, count, el, jobLink, kindName, span } from "./words.js";

const AROUND = 12;

export class Queue {
  constructor(feed, user) {
    this.feed = feed;
    this.user = user; // "": all users
    this.scroll = document.getElementById("rows");
    this.body = document.getElementById("body");
    this.find = document.getElementById("find");
    this.show = document.getElementById("show");
    this.jobs = [];
    this.at = -1; // the row selected with the arrow keys
    for (const field of [this.find, this.show]) field.addEventListener("input", () => this.arrived());
    document.getElementById("filters").addEventListener("submit", e => {
      if (document.activeElement === this.find) e.preventDefault();
    });
    this.scroll.addEventListener("scroll", () => this.draw(), { passive: true });
    this.scroll.addEventListener("keydown", e => this.key(e));
    addEventListener("resize", () => this.arrived());
  }

  arrived() {
    const { state } = this.feed;
    if (!state) return;
    const words = this.find.value.toLowerCase().split(/\s+/).filter(Boolean), show = this.show.value;
    const selected = this.at >= 0 && this.jobs[this.at] ? this.jobs[this.at].id : null;
    this.jobs = state.jobs.filter(j => (!this.user || j.user === this.user) &&
      (!show || (show === "holds" ? j.holds : show === "waits" ? !j.holds : j.kind !== "ordinary" && j.kind !== "rigid")) &&
      words.every(w => String(j.id).startsWith(w) || (j.name || "").toLowerCase().includes(w) || (j.user || "").toLowerCase().includes(w) || j.phase.includes(w) || j.kind.includes(w)));
    this.at = selected === null ? -1 : this.jobs.findIndex(j => j.id === selected);
    const hold = this.jobs.filter(j => j.holds).length;
    document.getElementById("queue-sum").textContent = count(hold, "job") + (hold === 1 ? " has" : " have") + " nodes, " + (this.jobs.length - hold).toLocaleString("en") + " wait" + (this.jobs.length - hold === 1 ? "s" : "");
    this.table = this.table || document.getElementById("table");
    this.table.setAttribute("aria-rowcount", this.jobs.length + 1);
    this.table.classList.toggle("private", !!state.private);
    this.high = matchMedia("(max-width: 700px)").matches ? 74 : 34;
    this.drawn = "";
    this.draw();
  }

  draw() {
    const { jobs, high, scroll } = this;
    const first = Math.max(0, Math.min(Math.floor(scroll.scrollTop / high) - AROUND, jobs.length - 1)), last = Math.min(jobs.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / high) + AROUND);
    if (this.drawn === first + "-" + last) return;
    this.drawn = first + "-" + last;
    const focused = document.activeElement && document.activeElement.closest("tr") && document.activeElement.closest("tr").dataset.id;
    const rows = [];
    if (first > 0) rows.push(this.gap(first));
    for (let i = first; i < last; i++) rows.push(this.row(jobs[i], i));
    if (last < jobs.length) rows.push(this.gap(jobs.length - last));
    if (!jobs.length) rows.push(el("tr", { class: "none" }, el("td", { colspan: 9 }, this.feed.state.jobs.length ? "No job is like that." : "Nobody has nodes, and nobody waits.")));
    this.body.replaceChildren(...rows);
    if (focused) { const again = this.body.querySelector('tr[data-id="' + Number(focused) + '"] a'); if (again) again.focus({ preventScroll: true }); }
  }

  gap(n) {
    const row = el("tr", { class: "gap", "aria-hidden": "true" }, el("td", { colspan: 9 }));
    row.firstChild.style.height = n * this.high + "px";
    return row;
  }

  row(j, i) {
    const now = this.feed.now(), planned = j.holds ? "" : "~", secret = this.feed.state.private;
    const start = !j.start ? "–" : j.soon && !j.holds ? "~now" : planned + clock(j.start, now);
    const end = !j.start || !j.end ? "–" : planned + clock(j.end, now);
    const user = secret ? "somebody" : j.user || "–";
    return el("tr", { "data-id": j.id, "data-kind": j.kind, "aria-rowindex": i + 2, class: [j.holds ? "holds" : "waits", j.slip || j.phase === "late" ? "slipped" : "", i === this.at ? "at" : ""].join(" ") },
      el("th", { scope: "row", class: "id" }, el("a", { href: jobLink(j.id), tabindex: "-1" }, String(j.id))),
      el("td", { class: "user" }, secret || !j.user ? user : el("a", { href: "./?user=" + encodeURIComponent(j.user), tabindex: "-1" }, user)),
      el("td", { class: "name", title: j.name }, secret ? "a job" : j.name || "–"),
      el("td", { class: "kind" }, el("span", { class: "chip " + j.kind }, kindName(j.kind))),
      el("td", { class: "phase" }, j.phase + (j.step && j.plan && j.plan.length > 1 ? " " + j.step + "/" + j.plan.length : "")),
      el("td", { class: "nodes" }, ...sizes(j)),
      el("td", { class: "start", title: j.start ? away(j.start, now) : "" }, start),
      el("td", { class: "end", title: j.end ? away(j.end, now) : "" }, end),
      el("td", { class: "why" }, ...this.where(j, now)));
  }

  // where returns the nodes that a job holds, or why it has none yet.
  where(j, now) {
    const parts = [];
    if (j.slip) parts.push(el("strong", { class: "slip" }, span(j.slip) + " later than promised: " + j.cause), " ");
    if (j.holds) parts.push(j.nodes || "");
    else if (j.waits && !j.start) parts.push("starts when there is room" + (j.why ? " (" + j.why + ")" : ""));
    else parts.push(j.why || (j.rank ? "rank " + j.rank : ""));
    if (!j.holds && j.start && !j.soon) parts.push(el("span", null, (parts.join("") ? " · " : "") + away(j.start, now)));
    return parts;
  }

  key(e) {
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / this.high) - 1);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.jobs.length - 1 }[e.key];
    if (to !== undefined && this.jobs.length && !e.ctrlKey && !e.altKey && !e.metaKey) {
      e.preventDefault();
      this.at = Math.min(Math.max(to, 0), this.jobs.length - 1);
      const top = this.at * this.high, { scroll } = this, head = scroll.querySelector("thead").getBoundingClientRect().height;
      if (top < scroll.scrollTop) scroll.scrollTop = top;
      else if (top + this.high + head > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + this.high + head - scroll.clientHeight;
      this.drawn = "";
      this.draw();
      const link = this.body.querySelector("tr.at a");
      if (link) link.focus({ preventScroll: true });
    } else if (e.key === "Enter" && e.target === this.scroll && this.at >= 0) location.href = jobLink(this.jobs[this.at].id);
  }
}

// sizes returns the sizes of a job's steps, the current one in bold.
function sizes(j) {
  if (j.plan && j.plan.length > 1) {
    const steps = j.plan.slice(0, 8).flatMap(([, n], i) => [i ? " → " : "", j.step === i + 1 ? el("b", null, String(n)) : String(n)]);
    return j.plan.length > 8 ? [...steps, " …"] : steps;
  }
  return [j.most && j.least < j.most ? j.size + " (" + j.least + "–" + j.most + ")" : String(j.size)];
}
