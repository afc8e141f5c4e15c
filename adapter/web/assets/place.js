// Where each job is in the chart: rectangles of rows and seconds. Nodes that were held or are held are known by name. The nodes of waiting
// and growing jobs are not decided yet. A sweep over time puts such a job where there is room, and it keeps these rows until it releases
// them.

import { apart } from "./charts.js";

export const PAST = 0, HELD = 1, PROMISED = 2, PLANNED = 3;

const BUDGET = 3e7; // rows that a sweep may visit

// ranges converts rows to pairs of a first and a last row.
function ranges(rows) {
  const all = [];
  for (const r of rows) {
    if (all.length && all[all.length - 1][1] === r - 1) all[all.length - 1][1] = r;
    else all.push([r, r]);
  }
  return all;
}

// layout returns all rectangles at a second, sorted by start, and how many jobs of the plan are not among them.
export function layout(feed, now, hosts) {
  const { state, row } = feed, rects = [];
  const emit = (job, rows, from, to, what) => {
    if (to > from) for (const [first, last] of ranges([...rows].sort((a, b) => a - b))) rects.push({ id: job.id, job, top: first, bottom: last + 1, from, to, what });
  };
  const rowsOf = list => hosts(list).map(n => row.get(n)).filter(r => r !== undefined);
  for (const p of state.past) emit(p, rowsOf(p.nodes), p.from, p.to, PAST);
  const sweep = new Sweep(state, now, emit);
  for (const c of state.closed) sweep.close(rowsOf(c.nodes), c.start, c.end || Infinity);
  let left = 0, budget = BUDGET;
  for (const j of state.jobs) {
    if (j.holds) {
      const rows = rowsOf(j.nodes);
      emit(j, rows, j.since || j.start, now, HELD);
      sweep.holder(j, rows);
    } else if (j.rank && j.start && (budget -= state.nodes.length * (2 + (j.plan ? j.plan.length : 0))) > 0) sweep.waiter(j);
    else if (j.rank && j.start) left++;
  }
  sweep.run();
  return { rects: apart(rects, state.nodes.length, SLACK).parts, left: left + sweep.waiting.length };
}

// SLACK is for how many seconds two jobs may seem to share a node that one released and the other received, because the sidecar reads every
// few seconds.
const SLACK = 30;

class Sweep {
  constructor(state, now, emit) {
    this.now = now;
    this.emit = emit;
    this.events = []; // second, order within it, action
    this.taken = new Uint16Array(state.nodes.length); // number of jobs on each row
    this.blocked = new Uint16Array(state.nodes.length); // rows in reservations
    state.nodes.forEach((n, i) => { if (n.out) this.blocked[i] = 1; });
    this.room = state.nodes.length - this.blocked.reduce((n, b) => n + b, 0); // number of free rows
    this.waiting = []; // jobs that wait for rows of other jobs
    this.endless = []; // ends of jobs without a time limit
    this.clock = now;
  }

  at(t, order, run) { this.events.push([t, order, run]); }

  close(rows, from, to) {
    this.at(Math.max(from, this.now), 1, () => rows.forEach(r => { if (!this.blocked[r]++ && !this.taken[r]) this.room--; }));
    if (to < Infinity) this.at(to, 0, () => rows.forEach(r => { if (!--this.blocked[r] && !this.taken[r]) this.room++; }));
  }

  // changes returns the seconds after the given one at which a job's size changes, and its end.
  changes(j, after) {
    let t = j.start;
    const all = [];
    (j.plan || []).forEach(([d, n], i) => {
      if (i > 0 && t > after && (!j.holds || i >= (j.step || 1))) all.push([t, n]);
      t += d;
    });
    return all;
  }

  holder(j, rows) {
    for (const r of rows) {
      if (!this.taken[r]++ && !this.blocked[r]) this.room--;
    }
    this.live(j, rows, this.now, PROMISED);
  }

  waiter(j) {
    const start = Math.max(j.start, this.now);
    this.at(start, 2 + j.rank / 1e9, () => this.begin(j, start));
  }

  begin(j, start) {
    const rows = this.find((j.plan && j.plan.length ? j.plan[0][1] : j.size), []);
    if (!rows) {
      this.waiting.push(j);
      return;
    }
    this.live(j, rows, Math.max(start, this.clock), PLANNED);
  }

  // live follows a job on its rows from a second on. A waiting job may begin later than planned if other jobs have not released their rows.
  live(j, rows, from, what) {
    const shift = what === PLANNED ? Math.max(0, from - j.start) : 0;
    const end = j.end ? Math.max(j.end + shift, from + 1) : Infinity;
    const life = { rows, from };
    const turn = t => {
      this.emit(j, life.rows, life.from, t, what);
      life.from = t;
    };
    for (const [planned, n] of this.changes(j, from - shift)) {
      const t = planned + shift;
      if (t >= end) break;
      this.at(t, n < life.rows.length ? 0 : 1.5, () => {
        turn(t);
        if (n < life.rows.length) this.free(life.rows.splice(n));
        else if (n > life.rows.length) life.rows = life.rows.concat(this.find(Math.min(n - life.rows.length, this.room), life.rows));
      });
    }
    if (end === Infinity) this.endless.push(turn);
    else this.at(end, 0, () => {
      turn(end);
      this.free(life.rows);
      life.rows = [];
    });
  }

  free(rows) {
    for (const r of rows) {
      if (!--this.taken[r] && !this.blocked[r]) this.room++;
    }
  }

  // find returns n free rows: next to the given ones if possible, otherwise in one piece, otherwise anywhere. It returns null if there are
  // too few.
  find(n, beside) {
    if (n > this.room) return null;
    const { taken, blocked } = this, got = [], all = taken.length;
    const take = r => {
      if (taken[r] || blocked[r]) return false;
      taken[r] = 1;
      this.room--;
      return got.push(r) > 0;
    };
    if (beside.length) {
      for (let r = Math.max(...beside) + 1; r < all && got.length < n && take(r); ) r++;
    } else {
      let run = 0;
      for (let r = 0; r < all && !got.length; r++) {
        run = taken[r] || blocked[r] ? 0 : run + 1;
        if (run === n) for (let k = r - n + 1; k <= r; k++) take(k);
      }
    }
    for (let r = 0; r < all && got.length < n; r++) take(r);
    return got;
  }

  run() {
    const heap = new Heap(this.events);
    this.at = (t, order, run) => heap.push([t, order, run]);
    for (let e; (e = heap.pop());) {
      this.clock = e[0];
      e[2]();
      if (this.waiting.length && e[1] === 0) this.again();
    }
    for (const turn of this.endless) turn(this.clock + 86400);
  }

  again() {
    if (!this.room) return;
    const first = this.waiting.splice(0, 20);
    for (const j of first) this.begin(j, this.clock);
  }
}

// Heap returns events by second, and within a second by order.
class Heap {
  constructor(events) { this.all = events.slice().sort(before); }
  push(e) {
    const all = this.all;
    let i = all.push(e) - 1;
    for (; i > 0; ) {
      const up = (i - 1) >> 1;
      if (before(all[up], e) <= 0) break;
      all[i] = all[up];
      i = up;
    }
    all[i] = e;
  }
  pop() {
    const all = this.all, top = all[0], last = all.pop();
    if (!all.length) return top;
    let i = 0;
    for (;;) {
      let down = 2 * i + 1;
      if (down >= all.length) break;
      if (down + 1 < all.length && before(all[down + 1], all[down]) < 0) down++;
      if (before(last, all[down]) <= 0) break;
      all[i] = all[down];
      i = down;
    }
    all[i] = last;
    return top;
  }
}

function before(a, b) { return a[0] - b[0] || a[1] - b[1]; }
