// What the page carries: columns of whole numbers, packed by pack.go, unpacked when somebody looks at them.

const facts = JSON.parse(document.getElementById("facts").textContent);

async function unpack(name) {
  const element = document.getElementById(name);
  const text = element.textContent;
  element.textContent = ""; // needed once
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Pack(new Uint8Array(await new Response(stream).arrayBuffer()));
}

// Pack reads numbers one after the other. They may be beyond 32 bits, so there is no shifting.
class Pack {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  natural() {
    const bytes = this.bytes;
    let b = bytes[this.at++];
    if (b < 128) return b;
    let v = b - 128, scale = 128;
    do {
      b = bytes[this.at++];
      v += (b & 127) * scale;
      scale *= 128;
    } while (b >= 128);
    return v;
  }
  whole() { return unfold(this.natural()); }
  profile() {
    const steps = [];
    for (let k = this.natural(); k > 0; k--) steps.push({ duration: this.whole(), nodes: this.whole() });
    return steps;
  }
}

function unfold(v) { return v % 2 ? -(v + 1) / 2 : v / 2; }

const RIGID = 0, MOLDABLE = 1, EVOLVING = 2;
const kinds = ["rigid", "moldable", "evolving"];

// readJobs is the workload: one typed array a column, beside each other.
async function readJobs() {
  const p = await unpack("jobs");
  const n = p.natural();
  const column = (array, read) => { for (let i = 0; i < n; i++) array[i] = read(i); return array; };
  let number = 0, submit = 0;
  const jobs = {
    n,
    number: column(new Float64Array(n), () => number += p.whole() + 1),
    submit: column(new Float64Array(n), () => submit += p.whole()),
    run: column(new Float64Array(n), () => p.whole()),
    request: column(new Float64Array(n), () => p.whole()),
    size: column(new Int32Array(n), () => p.whole()),
    user: column(new Int32Array(n), () => p.whole()),
    kind: new Uint8Array(n), cut: new Uint8Array(n), choices: new Map(),
  };
  for (let i = 0; i < n; i++) {
    const v = p.natural();
    jobs.kind[i] = v & 3;
    jobs.cut[i] = v >> 2;
  }
  for (let i = 0; i < n; i++) {
    if (jobs.kind[i] === RIGID) continue;
    const choices = [];
    for (let k = p.natural(); k > 0; k--) choices.push(p.profile());
    jobs.choices.set(i, choices);
  }
  return jobs;
}

// readTimes is when the jobs began and ended under one policy, NaN for those that never began, and the node counts of
// those that had another one than their size.
async function readTimes(jobs, policy) {
  const p = await unpack("times-" + policy);
  const start = new Float64Array(jobs.n), end = new Float64Array(jobs.n);
  for (let i = 0; i < jobs.n; i++) {
    const v = p.natural();
    start[i] = v === 0 ? NaN : jobs.submit[i] + unfold(v - 1);
  }
  for (let i = 0; i < jobs.n; i++) end[i] = start[i] === start[i] ? start[i] + jobs.run[i] + p.whole() : NaN;
  const held = new Map();
  for (let i = 0; i < jobs.n; i++) {
    if (jobs.kind[i] === RIGID || start[i] !== start[i]) continue;
    const choice = p.natural(), profile = p.profile();
    if (profile.length) held.set(i, profile);
    else if (jobs.kind[i] === MOLDABLE) held.set(i, [{ duration: end[i] - start[i], nodes: jobs.choices.get(i)[choice][0].nodes }]);
  }
  return { start, end, held };
}

// readHeld is who held which nodes under one policy: rectangles of time and neighbouring nodes, by their beginnings.
async function readHeld(jobs, times, policy) {
  const p = await unpack("held-" + policy);
  let size = 4 * jobs.n + 16, n = 0;
  let job = new Int32Array(size), from = new Float64Array(size), to = new Float64Array(size), first = new Int32Array(size), last = new Int32Array(size);
  for (let i = 0; i < jobs.n; i++) {
    if (times.start[i] !== times.start[i]) continue;
    let before = times.start[i];
    for (let stretches = p.natural(); stretches > 0; stretches--) {
      const begin = before + p.whole(), end = times.end[i] - p.whole();
      before = end;
      let next = 0;
      for (let spans = p.natural(); spans > 0; spans--) {
        if (n === size) {
          size *= 2;
          [job, from, to, first, last] = [job, from, to, first, last].map(a => { const b = new a.constructor(size); b.set(a); return b; });
        }
        job[n] = i; from[n] = begin; to[n] = end;
        first[n] = next + p.natural();
        last[n] = first[n] + p.natural();
        next = last[n++] + 1;
      }
    }
  }
  const rects = sortedByBegin({ n, job, from, to, first, last });
  return facts.real ? apart(rects) : rects; // in a replay no job shares a node
}

// apart gives jobs that held a node at the same time a lane each of the node's row, so that none is drawn over another, and
// says how many nodes were held when. Where no jobs share a node it changes nothing.
function apart(rects) {
  const rows = Array.from({ length: facts.nodes }, () => []);
  for (let i = 0; i < rects.n; i++) for (let row = rects.first[i]; row <= rects.last[i]; row++) rows[row].push(i);
  const places = rows.map(all => lanes(rects, all));
  if (!places.some(({ most }) => most > 1)) return rects;
  const parts = { job: [], from: [], to: [], first: [], last: [], lane: [], of: [] };
  const part = (i, first, last, lane, of) => {
    const values = { job: rects.job[i], from: rects.from[i], to: rects.to[i], first, last, lane, of };
    for (const key in parts) parts[key].push(values[key]);
  };
  for (let i = 0; i < rects.n; i++) {
    let first = rects.first[i]; // of the rows that it has alone
    for (let row = first; row <= rects.last[i]; row++) {
      const [lane, of] = places[row].of.get(i);
      if (of === 1) continue;
      if (first < row) part(i, first, row - 1, 0, 1);
      part(i, row, row, lane, of);
      first = row + 1;
    }
    if (first <= rects.last[i]) part(i, first, rects.last[i], 0, 1);
  }
  const busy = new Changes(2 * places.reduce((n, { busy }) => n + busy.length, 0));
  for (const [from, to] of places.flatMap(({ busy }) => busy)) {
    busy.add(from, 1);
    busy.add(to, -1);
  }
  const sorted = { n: parts.job.length, busy, most: places.reduce((n, { most }) => Math.max(n, most), 1) };
  for (const key in parts) sorted[key] = (rects[key] ? rects[key].constructor : Uint16Array).from(parts[key]);
  return sorted; // by their beginnings still
}

// lanes gives each of some rectangles, all of one row and by their beginnings, a lane and how many lanes there are: those
// that follow one another without a gap share the row's height. A job keeps its lane.
function lanes(rects, all) {
  const of = new Map(), last = new Map(), busy = []; // of each rectangle; of each job, the lane before; times in which the node was held
  let group = [], ends = [], begin = 0, end = -Infinity, most = 1;
  const settle = () => {
    for (const place of group) place[1] = ends.length;
    most = Math.max(most, ends.length);
    if (group.length) busy.push([begin, end]);
    [group, ends] = [[], []];
    last.clear();
  };
  const put = (i, lane) => {
    const place = [lane, 1];
    of.set(i, place);
    if (!group.length) begin = rects.from[i];
    group.push(place);
    last.set(rects.job[i], lane);
    ends[lane] = rects.to[i];
    end = Math.max(end, rects.to[i]);
  };
  for (let k = 0, next; k < all.length; k = next) {
    const now = rects.from[all[k]], free = t => t <= now;
    for (next = k; next < all.length && rects.from[all[next]] === now; ) next++;
    const together = all.slice(k, next);
    if (free(end) && (ends.length < 2 || !together.some(i => last.has(rects.job[i])))) settle();
    const goes = new Map(together.map(i => [i, last.get(rects.job[i])]).filter(([, lane]) => lane !== undefined && free(ends[lane])));
    for (const [i, lane] of goes) put(i, lane);
    for (const i of together) {
      if (goes.has(i)) continue;
      const lane = ends.findIndex(free);
      put(i, lane < 0 ? ends.length : lane);
    }
  }
  settle();
  return { of, most, busy };
}

// ascending is the order of some values, stable. Values and places go into one number where they fit, which any browser
// sorts many times as fast as by a comparison of its own.
function ascending(values) {
  const n = values.length, order = new Uint32Array(n);
  let low = Infinity, high = -Infinity, whole = true;
  for (let i = 0; i < n; i++) {
    const v = values[i];
    if (v < low) low = v;
    if (v > high) high = v;
    whole &&= v === Math.floor(v);
  }
  if (whole && (high - low + 1) * n < Number.MAX_SAFE_INTEGER) {
    const keys = new Float64Array(n);
    for (let i = 0; i < n; i++) keys[i] = (values[i] - low) * n + i;
    keys.sort();
    for (let i = 0; i < n; i++) order[i] = keys[i] % n;
    return order;
  }
  for (let i = 0; i < n; i++) order[i] = i;
  return order.sort((a, b) => values[a] - values[b] || a - b);
}

function sortedByBegin(r) {
  const order = ascending(r.from.subarray(0, r.n)), sorted = { n: r.n };
  for (const key of ["job", "from", "to", "first", "last"]) {
    const a = sorted[key] = new r[key].constructor(r.n), b = r[key];
    for (let i = 0; i < r.n; i++) a[i] = b[order[i]];
  }
  return sorted;
}
