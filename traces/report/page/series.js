// Step functions of time with their integrals: held nodes, waiting jobs. A mean over any period takes two binary
// searches, so that a chart of 100,000 jobs is exact at every zoom level, and fast.

class Series {
  // times and by are the changes of the value, in any order.
  constructor({ times, by }) {
    const order = ascending(times), at = new Float64Array(order.length), value = new Float64Array(order.length);
    let n = -1, now = 0;
    for (const i of order) {
      if (n < 0 || times[i] !== at[n]) at[++n] = times[i];
      value[n] = now += by[i]; // value from this change on
    }
    this.at = at.subarray(0, n + 1);
    this.value = value.subarray(0, n + 1);
    this.sum = new Float64Array(n + 1); // the integral up to this change
    for (let i = 1; i <= n; i++) this.sum[i] = this.sum[i - 1] + value[i - 1] * (at[i] - at[i - 1]);
  }

  // place returns the index of the last change not after t, or −1.
  place(t) {
    let low = -1, high = this.at.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.at[middle] <= t) low = middle; else high = middle;
    }
    return low;
  }

  now(t) {
    const k = this.place(t);
    return k < 0 ? 0 : this.value[k];
  }

  integral(t) {
    const k = this.place(t);
    return k < 0 ? 0 : this.sum[k] + this.value[k] * (t - this.at[k]);
  }

  // means returns the means over n equal parts of the time between from and to.
  means(from, to, n) {
    const means = new Float64Array(n), width = (to - from) / n;
    let before = this.integral(from);
    for (let i = 0; i < n; i++) {
      const after = this.integral(from + (i + 1) * width);
      means[i] = Math.max(0, (after - before) / width);
      before = after;
    }
    return means;
  }
}

// Changes collects changes. It leaves out what never happened (NaN).
class Changes {
  constructor(room) {
    this.n = 0;
    this.allTimes = new Float64Array(room);
    this.allBy = new Int32Array(room);
  }
  add(t, by) {
    if (t !== t) return;
    this.allTimes[this.n] = t;
    this.allBy[this.n++] = by;
  }
  get times() { return this.allTimes.subarray(0, this.n); }
  get by() { return this.allBy.subarray(0, this.n); }
}

function loadSeries(jobs, times) {
  let room = 2 * jobs.n;
  for (const profile of times.held.values()) room += profile.length;
  const changes = new Changes(room);
  for (let i = 0; i < jobs.n; i++) {
    const held = times.held.get(i);
    let t = times.start[i], had = 0;
    if (!held) changes.add(t, had = jobs.size[i]);
    else for (const step of held) {
      changes.add(t, step.nodes - had);
      had = step.nodes;
      t += step.duration;
    }
    changes.add(times.end[i], -had);
  }
  return new Series(changes);
}

function queueSeries(jobs, times) {
  const changes = new Changes(2 * jobs.n);
  for (let i = 0; i < jobs.n; i++) {
    changes.add(jobs.submit[i], 1);
    changes.add(times.start[i], -1);
  }
  return new Series(changes);
}
