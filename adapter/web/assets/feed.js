// The data from the server: the whole state first, and then the changes.

export const feed = {
  state: null,
  jobs: new Map(),
  row: new Map(), // row of each node, by name
  received: 0,
  connected: false,
  source: null,
  listeners: [],

  // now returns the cluster's present second.
  now() {
    if (!this.state) return Date.now() / 1000;
    return this.state.now + (performance.now() - this.received) / 1000 * this.state.pace;
  },

  // open connects while the page is visible, because browsers limit the connections to one server. The browser itself reconnects after a
  // loss.
  open() {
    const turn = () => {
      if (document.hidden) this.close();
      else if (!this.source) this.listen();
    };
    document.addEventListener("visibilitychange", turn);
    turn();
  },

  listen() {
    const source = this.source = new EventSource("./events");
    source.addEventListener("state", e => this.whole(JSON.parse(e.data)));
    source.addEventListener("news", e => this.news(JSON.parse(e.data)));
    source.addEventListener("error", () => {
      this.connected = false;
      if (source.readyState === EventSource.CLOSED) { // the server refused the connection
        this.close();
        setTimeout(() => { if (!document.hidden && !this.source) this.listen(); }, 5000);
      }
      this.tell();
    });
  },

  close() {
    if (this.source) this.source.close();
    this.source = null;
  },

  whole(state) {
    this.state = state;
    this.jobs = new Map(state.jobs.map(j => [j.id, j]));
    this.number();
    this.arrived();
  },

  news(n) {
    const s = this.state;
    if (!s || n.number !== s.number + 1) return; // the server will send the whole state
    for (const key of ["number", "read", "now", "soft", "closed", "broken"]) if (n[key] !== undefined) s[key] = n[key];
    if (n.nodes) {
      s.nodes = n.nodes;
      this.number();
    }
    if (n.past) {
      const old = s.now - 12 * 3600;
      s.past = s.past.concat(n.past).filter(p => p.to >= old);
    }
    for (const id of n.gone || []) this.jobs.delete(id);
    for (const j of n.jobs || []) this.jobs.set(j.id, j);
    for (const [id, rank, start, end] of n.moved || []) {
      const j = this.jobs.get(id);
      if (j) Object.assign(j, { rank, start, end });
    }
    this.arrived();
  },

  number() { this.row = new Map(this.state.nodes.map((n, i) => [n.name, i])); },

  arrived() {
    this.received = performance.now();
    this.connected = true;
    // Jobs that hold nodes by start, jobs in the plan by rank, the others.
    const place = j => j.holds ? 0 : j.rank ? 1 : 2;
    this.state.jobs = [...this.jobs.values()].sort((a, b) => place(a) - place(b) || (place(a) === 1 ? a.rank - b.rank : a.start - b.start) || a.id - b.id);
    document.documentElement.dataset.edition = this.state.number;
    this.tell();
  },

  tell() { for (const l of this.listeners) l(); },
};
