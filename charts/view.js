// View is the window of time and rows that the charts of a page share. A page sets `whole`, the time that it
// may show.
export class View {
  // rows is the number of rows of the Gantt chart. least is the shortest visible time in seconds.
  constructor(rows, least) {
    Object.assign(this, { from: 0, to: 1, top: 0, bottom: rows, rows, least, hover: null, listeners: [], pending: false });
  }

  // show moves the window. The window stays within `whole`, and has at least the shortest visible time
  // and three rows.
  show(from, to, top = this.top, bottom = this.bottom) {
    const { whole, rows } = this, most = whole.to - whole.from;
    const length = Math.min(most, Math.max(to - from, Math.min(most, this.least)));
    from = Math.min(Math.max((from + to - length) / 2, whole.from), whole.to - length);
    const high = Math.min(rows, Math.max(bottom - top, Math.min(rows, 3)));
    top = Math.min(Math.max((top + bottom - high) / 2, 0), rows - high);
    Object.assign(this, { from, to: from + length, top, bottom: top + high });
    this.changed();
  }

  zoom(factor, at = (this.from + this.to) / 2) { this.show(at - (at - this.from) * factor, at + (this.to - at) * factor); }

  zoomRows(factor, at) { this.show(this.from, this.to, at - (at - this.top) * factor, at + (this.bottom - at) * factor); }

  pan(time, rows = 0) { this.show(this.from + time, this.to + time, this.top + rows, this.bottom + rows); }

  all() { this.show(this.whole.from, this.whole.to, 0, this.rows); }

  // changed redraws everything in the next frame.
  changed() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      for (const draw of this.listeners) draw();
    });
  }
}
