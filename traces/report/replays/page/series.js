// Step functions of time with their integrals: what was held, how many waited. The mean over any stretch of time costs two
// binary searches, so a chart of 100,000 jobs is exact at every zoom and drawn in no time.

class Series {
  // changes: [time, by] pairs in two arrays, in any order; NaN times are left out.
  constructor(times, by) {
    let order = [];
    const keys = Float64Array.from(times.filter(t => t === t)).sort();
    let n = 0;
    for (let i = 0; i < keys.length; i++) if (i === 0 || keys[i] !== keys[i - 1]) keys[n++] = keys[i];
    this.at = keys.subarray(0, n);
    this.value = new Float64Array(n); // from at on
    for (let i = 0; i < times.length; i++) if (times[i] === times[i]) this.value[this.place(times[i])] += by[i];
    this.sum = new Float64Array(n); // the integral up to at
    this.top = 0;
    for (let i = 1; i < n; i++) {
      this.sum[i] = this.sum[i - 1] + this.value[i - 1] * (this.at[i] - this.at[i - 1]);
      this.value[i] += this.value[i - 1];
    }
    for (const v of this.value) if (v > this.top) this.top = v;
  }

  // place of the last change not after t; −1 before the first.
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

  // means over n equal stretches between from and to.
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

function loadSeries(jobs, times) {
  const at = [], by = [];
  for (let i = 0; i < jobs.n; i++) {
    const held = times.held.get(i);
    let t = times.start[i], had = 0;
    for (const step of held || []) {
      at.push(t); by.push(step.nodes - had);
      had = step.nodes;
      t += step.duration;
    }
    if (!held) { at.push(t); by.push(had = jobs.size[i]); }
    at.push(times.end[i]); by.push(-had);
  }
  return new Series(at, by);
}

function queueSeries(jobs, times) {
  const at = [], by = [];
  for (let i = 0; i < jobs.n; i++) {
    at.push(jobs.submit[i], times.start[i]);
    by.push(1, -1);
  }
  return new Series(at, by);
}
