// The rectangles of a Gantt chart: a job has some neighboring rows from one second to another.

const BLOCK = 128; // number of rectangles that are skipped together

// Rects are rectangles sorted by their beginnings, in columns for job, from, to, top and bottom, with an index by time.
export class Rects {
  constructor(columns) {
    Object.assign(this, columns);
    this.latest = new Float64Array(Math.ceil(this.n / BLOCK)).fill(-Infinity); // latest end in each block
    for (let i = 0; i < this.n; i++) {
      const b = i / BLOCK | 0;
      if (this.to[i] > this.latest[b]) this.latest[b] = this.to[i];
    }
    this.found = new Int32Array(1024);
    this.ofJob = null;
  }

  // first and last are the rows that a rectangle touches. Jobs that share a row each have a part of it.
  first(i) { return Math.floor(this.top[i]); }
  last(i) { return Math.ceil(this.bottom[i]) - 1; }

  // between fills this.found with the rectangles that touch a window of time and rows, and returns their number. It stops
  // after `enough` plus one.
  between(from, to, top, bottom, enough = Infinity) {
    let n = 0;
    for (let b = 0; b < this.latest.length; b++) {
      const begin = b * BLOCK;
      if (this.from[begin] >= to) break;
      if (this.latest[b] <= from) continue;
      const end = Math.min(begin + BLOCK, this.n);
      for (let i = begin; i < end; i++) {
        if (this.from[i] >= to || this.to[i] <= from || this.top[i] >= bottom || this.bottom[i] <= top) continue;
        if (n > enough) return n;
        if (n === this.found.length) {
          const more = new Int32Array(2 * n);
          more.set(this.found);
          this.found = more;
        }
        this.found[n++] = i;
      }
    }
    return n;
  }

  // at returns the rectangle at an instant and a row, or −1.
  at(t, row) {
    for (let b = 0; b < this.latest.length; b++) {
      const begin = b * BLOCK;
      if (this.from[begin] > t) break;
      if (this.latest[b] <= t) continue;
      for (let i = begin; i < Math.min(begin + BLOCK, this.n); i++) {
        if (this.from[i] <= t && t < this.to[i] && this.top[i] <= row && row < this.bottom[i]) return i;
      }
    }
    return -1;
  }

  // ownOf returns the rectangles of one job in order of time.
  ownOf(job) {
    if (!this.ofJob) {
      this.ofJob = new Map();
      for (let i = 0; i < this.n; i++) {
        const own = this.ofJob.get(this.job[i]);
        if (own) own.push(i);
        else this.ofJob.set(this.job[i], [i]);
      }
    }
    return this.ofJob.get(job) || [];
  }
}

// columns sorts rectangles that are objects by their beginnings, and returns them as columns.
export function columns(list) {
  const column = key => Float64Array.from(list, r => r[key]);
  return { n: list.length, job: column("id"), from: column("from"), to: column("to"), top: column("top"), bottom: column("bottom") };
}

// apart gives each of several jobs that have a row at the same time its own lane of the row, so that none is
// drawn over another. It returns the rectangles or parts of them, sorted by their beginnings, the times in
// which each row was held, and the maximum number of lanes in a row. Jobs that overlap by at most `slack`
// seconds do not share a row.
export function apart(rects, rows, slack = 0) {
  const all = rects.sort((a, b) => a.from - b.from), until = new Float64Array(rows).fill(-Infinity), shared = new Map();
  for (const r of all) {
    for (let row = r.top; row < r.bottom; row++) {
      if (r.from < until[row] - slack) shared.set(row, []);
      until[row] = Math.max(until[row], r.to);
    }
  }
  if (!shared.size) return { parts: all, busy: [], most: 1 };
  for (const r of all) for (let row = r.top; row < r.bottom; row++) if (shared.has(row)) shared.get(row).push(r);
  const busy = [], parts = [];
  let most = 1;
  for (const [row, some] of shared) shared.set(row, lanes(some, slack, busy));
  for (const r of all) {
    let top = r.top; // of the rows that it does not share
    for (let row = r.top; row < r.bottom; row++) {
      const of = shared.get(row);
      if (!of) busy.push([r.from, r.to]);
      const [lane, lanes] = of ? of.get(r) : [0, 1];
      most = Math.max(most, lanes);
      if (lanes === 1) continue;
      if (top < row) parts.push({ ...r, top, bottom: row });
      parts.push({ ...r, top: row + lane / lanes, bottom: row + (lane + 1) / lanes });
      top = row + 1;
    }
    if (top < r.bottom) parts.push(top === r.top ? r : { ...r, top });
  }
  return { parts, busy, most };
}

// lanes returns a lane for each rectangle of one row, and the number of lanes. Rectangles that follow one another without
// a gap share the row's height. A job keeps its lane.
function lanes(all, slack, busy) {
  const places = new Map(), last = new Map(); // lane of each rectangle; previous lane of each job
  let group = [], ends = [], begin = 0, end = -Infinity;
  const settle = () => {
    for (const place of group) place[1] = ends.length;
    if (group.length) busy.push([begin, end]);
    [group, ends] = [[], []];
    last.clear();
  };
  const put = (r, lane) => {
    const place = [lane, 1];
    places.set(r, place);
    if (!group.length) begin = r.from;
    group.push(place);
    last.set(r.id, lane);
    ends[lane] = r.to;
    end = Math.max(end, r.to);
  };
  for (let i = 0, next; i < all.length; i = next) {
    for (next = i; next < all.length && all[next].from === all[i].from; ) next++;
    const free = t => t <= all[i].from + slack, together = all.slice(i, next);
    if (free(end) && (ends.length < 2 || !together.some(r => last.has(r.id)))) settle();
    const goes = new Map(together.map(r => [r, last.get(r.id)]).filter(([, lane]) => lane !== undefined && free(ends[lane])));
    for (const [r, lane] of goes) put(r, lane);
    for (const r of together) {
      if (goes.has(r)) continue;
      const lane = ends.findIndex(free);
      put(r, lane < 0 ? ends.length : lane);
    }
  }
  settle();
  return places;
}
