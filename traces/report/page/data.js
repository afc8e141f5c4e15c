// The data of the page: columns of whole numbers, packed by pack.go, which are unpacked when they are needed.

const facts = JSON.parse(document.getElementById("facts").textContent);

async function unpack(name) {
  const element = document.getElementById(name);
  const text = element.textContent;
  element.textContent = ""; // it is not needed again
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Pack(new Uint8Array(await new Response(stream).arrayBuffer()));
}

// Pack reads numbers one after another. They may exceed 32 bits, so shift operators would give wrong results.
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

// readJobs returns the workload as one typed array per column.
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

// readTimes returns when the jobs began and ended under one policy (NaN if they never began), and the node counts of jobs
// whose size changed.
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

// readHeld returns which nodes jobs held under one policy: rectangles of time and neighboring nodes.
async function readHeld(jobs, times, policy) {
  const p = await unpack("held-" + policy);
  let size = 4 * jobs.n + 16, n = 0;
  let job = new Int32Array(size), from = new Float64Array(size), to = new Float64Array(size), top = new Int32Array(size), bottom = new Int32Array(size);
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
          [job, from, to, top, bottom] = [job, from, to, top, bottom].map(a => { const b = new a.constructor(size); b.set(a); return b; });
        }
        job[n] = i; from[n] = begin; to[n] = end;
        top[n] = next + p.natural();
        next = bottom[n] = top[n] + p.natural() + 1;
        n++;
      }
    }
  }
  if (!facts.real) return new Rects(sortedByBegin({ n, job, from, to, top, bottom }));
  const list = Array.from({ length: n }, (_, i) => ({ id: job[i], from: from[i], to: to[i], top: top[i], bottom: bottom[i] }));
  const { parts, busy, most } = apart(list, facts.nodes); // in a replay no two jobs share a node
  return Object.assign(new Rects(columns(parts)), { busy, most });
}

// ascending returns the stable order of some values. If value and index fit into one number, it sorts numbers, which is
// many times as fast as sorting with a comparison function.
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
  for (const key of ["job", "from", "to", "top", "bottom"]) {
    const a = sorted[key] = new r[key].constructor(r.n), b = r[key];
    for (let i = 0; i < r.n; i++) a[i] = b[order[i]];
  }
  return sorted;
}
