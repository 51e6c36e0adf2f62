// The plot of the monitor: which pages are in view, dots or a histogram, axes, averages, marks, hovering, brushing.

import { crawlPath, get } from "./api.js";
import { clock, count, h, put } from "./dom.js";
import { PAD, colours, dotDrawer, jitter } from "./scatter.js";

const MOST_DOTS = 60_000;
const WINDOW = 100; // pages of the moving average
const SPANS = [1_000, 10_000, 0];
const FORECAST = 0.06; // share of the strip
const MARGIN = { left: 34, bottom: 20 };

export class Plot {
  constructor(pages, { onOpen }) {
    Object.assign(this, { pages, onOpen, first: 1, last: 1, span: 0, isLive: true, byTime: false, forecast: null, chunks: [], marks: [], overview: null, whole: null });
    this.dots = h("canvas", { "aria-hidden": "true" });
    this.over = h("canvas", { role: "img", "aria-label": "A dot per page: to the right the order of fetching, upwards the relevance. The table of latest pages below has the same in words." });
    this.tip = h("div", { class: "tip", hidden: true });
    this.area = h("div", { class: "plot", tabindex: "0", role: "group", "aria-label": "Dots; arrow keys move, plus and minus zoom, End follows the crawl" }, this.dots, this.over, this.tip);
    this.map = h("canvas", { role: "img", "aria-label": "Harvest rate of the whole crawl, and the part that is shown above" });
    this.strip = h("div", { class: "strip" }, this.map);
    this.element = h("div", {}, this.area, this.strip, h("div", { class: "legend" }, h("span", {}, h("i", { class: "rel" }), "relevant"), h("span", {}, h("i"), "not relevant"), h("span", {}, h("i", { class: "said" }), "a person decided"), h("span", {}, h("i", { class: "avg" }), `mean of ${WINDOW} pages`), h("span", {}, h("i", { class: "mark" }), "judge, focus, commands, forecast, …"), this.note = h("span", { class: "faint" })));
    this.buttons = h("div", { class: "row" });
    this.showButtons();
    this.drawer = null;
    this.sizes = new ResizeObserver(() => this.draw());
    this.onTheme = () => this.draw();
    this.listenToPointer();
    this.area.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** Made when there are dots to draw: where there is no graphics card, that takes a while, and a histogram needs none. */
  makeDrawer() {
    try {
      this.drawer = dotDrawer(this.dots, { force2d: new URLSearchParams(location.hash.split("?")[1]).has("2d") });
    } catch {
      const fresh = h("canvas", { "aria-hidden": "true" });
      this.dots.replaceWith(fresh);
      this.dots = fresh;
      this.drawer = dotDrawer(fresh, { force2d: true });
    }
  }

  /** A crawl that runs shows its latest pages, one that has stopped all of them. */
  async start(isRunning) {
    this.sizes.observe(this.area);
    window.addEventListener("theme", this.onTheme);
    this.choose(isRunning && this.pages.count > 2 * SPANS[0] ? SPANS[0] : 0);
    await this.update(true);
  }

  end() {
    this.sizes.disconnect();
    window.removeEventListener("theme", this.onTheme);
  }

  showButtons() {
    const button = (name, isOn, action) => h("button", { type: "button", class: "small", "aria-pressed": String(isOn), onclick: action }, name);
    put(this.buttons, SPANS.map((span) => button(span ? `Last ${count(span)}` : "All", this.isLive && this.span === span, () => { this.choose(span); this.update(true); })),
      h("span", { class: "faint" }, "│"),
      button("By pages", !this.byTime, () => { this.byTime = false; this.showButtons(); this.update(true); }), button("By time", this.byTime, () => { this.byTime = true; this.showButtons(); this.update(true); }));
  }

  /** Follow the crawl, with this many pages in view; 0: all. */
  choose(span) {
    this.span = span;
    this.isLive = true;
    this.showButtons();
  }

  look(first, last) {
    const least = 20;
    const size = Math.max(least, Math.min(last - first, this.pages.count - 1));
    this.first = Math.round(Math.max(1, Math.min(first, this.pages.count - size)));
    this.last = Math.round(Math.min(this.pages.count, this.first + size));
    this.isLive = false;
    this.showButtons();
    this.update(true);
  }

  async update(isForced = false) {
    if (!this.pages.count) return;
    if (!this.sizes || !this.area.isConnected) return;
    if (this.isLive) {
      this.last = this.pages.count;
      this.first = this.span ? Math.max(1, this.last - this.span + 1) : 1;
    }
    const wanted = `${this.first}-${this.last} ${this.pages.version}`;
    if (!isForced && wanted === this.shown && this.whole) return;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const isMany = this.last - this.first >= MOST_DOTS;
    const bins = Math.max(60, Math.min(400, Math.round(this.area.clientWidth / 3)));
    const wholeIsOld = !this.whole || this.whole.version !== this.pages.version || this.pages.count > this.wholeAt * 1.02;
    if (wholeIsOld) {
      this.wholeAt = this.pages.count;
      this.pages.overview({ bins: 160, levels: 2 }).then((found) => { this.whole = found; this.marks = found.marks; this.draw(); }, () => {});
    }
    if (isMany) {
      const found = await this.pages.overview({ first: this.first, last: this.last, bins, levels: 48, axis: this.byTime ? "time" : "pages" });
      if (turn !== this.turn) return;
      this.overview = found;
      this.marks = found.marks;
      this.chunks = [];
    } else {
      const chunks = await this.pages.between(this.first, this.last);
      if (turn !== this.turn) return;
      this.overview = null;
      this.chunks = chunks;
    }
    this.draw();
    if (Number(this.area.dataset.version) !== this.pages.version) this.hideTip(); // what it says may not hold any more
    this.shown = wanted;
    this.area.dataset.drawn = `${this.first}-${this.last}`;
    this.area.dataset.version = this.pages.version;
    this.area.dataset.kind = isMany ? "histogram" : this.drawer?.kind ?? "";
  }

  /** What the left and right edge stand for: numbers of pages, or seconds since the first page. */
  edges() {
    if (!this.byTime) return [this.first - 0.5, this.last + 0.5];
    const [first, last] = [this.pages.at(this.first), this.pages.at(this.last)];
    return first && last ? [first.seconds, Math.max(last.seconds, first.seconds + 0.001)] : [0, 1];
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.area;
    if (!width || !this.pages.count) return;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    if (!this.drawer && this.chunks.length) this.makeDrawer();
    for (const canvas of [this.dots, this.over]) {
      if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
      if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    }
    const [from, to] = this.edges();
    const shown = this.last - this.first;
    const size = (shown > 20_000 ? 2.2 : shown > 4_000 ? 3 : shown > 800 ? 4.5 : 6.5) * scale;
    this.drawer?.draw(this.chunks, { from, to, byTime: this.byTime, size, alpha: shown > 10_000 ? 0.5 : 0.75 });
    const pen = this.over.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const tints = colours();
    if (this.overview) this.drawHistogram(pen, width, height, tints);
    this.drawAxes(pen, width, height, tints);
    this.drawMarks(pen, width, height, tints);
    this.drawAverage(pen, width, height, tints);
    this.drawMap(tints, scale);
    this.note.textContent = this.overview ? `${count(shown + 1)} pages as a histogram${this.overview.is_sample ? " (of a sample; all follow)" : ""}; zoom in for dots` : `${count(shown + 1)} of ${count(this.pages.count)} pages`;
  }

  y(relevance, height) {
    return height * (1 - (relevance * (1 - 2 * PAD) + PAD));
  }

  drawAxes(pen, width, height, tints) {
    pen.strokeStyle = tints.line;
    pen.fillStyle = tints.text;
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    for (const level of [0, 0.25, 0.5, 0.75, 1]) {
      const y = Math.round(this.y(level, height)) + 0.5;
      pen.globalAlpha = 0.5;
      pen.beginPath();
      pen.moveTo(0, y);
      pen.lineTo(width, y);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.fillText(level === 0 || level === 1 ? String(level) : level.toFixed(2), 6, y - 4);
    }
    const name = (place) => (this.byTime && this.pages.at(place) ? clock(this.pages.start + this.pages.at(place).seconds) : count(place));
    pen.fillText(name(this.first), MARGIN.left, height - 6);
    pen.textAlign = "right";
    pen.fillText(name(this.last), width - 8, height - 6);
    pen.textAlign = "left";
  }

  drawHistogram(pen, width, height, tints) {
    const { counts, relevant, levels } = this.overview;
    const columns = counts.length / levels;
    const most = Math.log1p(Math.max(...counts));
    const [w, tall] = [width / columns, (height * (1 - 2 * PAD)) / levels];
    for (let column = 0; column < columns; column += 1) {
      for (let level = 0; level < levels; level += 1) {
        const value = counts[column * levels + level];
        if (!value) continue;
        pen.globalAlpha = 0.12 + 0.8 * (Math.log1p(value) / most);
        pen.fillStyle = relevant[column * levels + level] * 2 >= value ? tints.good : tints.plain;
        pen.fillRect(column * w, this.y((level + 1) / levels, height), Math.ceil(w), Math.ceil(tall));
      }
    }
    pen.globalAlpha = 1;
  }

  drawAverage(pen, width, height, tints) {
    const points = this.overview ? this.overview.mean.map((value, at) => [(at + 0.5) / this.overview.mean.length, value]).filter(([, value]) => value !== null) : this.averages();
    if (points.length < 2) return;
    pen.beginPath();
    points.forEach(([x, value], at) => (at ? pen.lineTo(x * width, this.y(value, height)) : pen.moveTo(x * width, this.y(value, height))));
    pen.lineJoin = "round";
    pen.strokeStyle = tints.surface;
    pen.lineWidth = 5;
    pen.globalAlpha = 0.7;
    pen.stroke();
    pen.globalAlpha = 1;
    pen.strokeStyle = tints.said;
    pen.lineWidth = 2.4;
    pen.stroke();
  }

  averages() {
    const [from, to] = this.edges();
    const step = Math.max(1, Math.floor((this.last - this.first) / 400));
    const points = [];
    let sum = 0;
    let size = 0;
    for (let number = Math.max(1, this.first - WINDOW); number <= this.last; number += 1) {
      const page = this.pages.at(number);
      if (!page) continue;
      sum += page.relevance;
      size += 1;
      if (size > WINDOW) {
        sum -= this.pages.at(number - WINDOW)?.relevance ?? 0;
        size -= 1;
      }
      if (number >= this.first && (number - this.first) % step === 0) points.push([((this.byTime ? page.seconds : number) - from) / (to - from), sum / size]);
    }
    return points;
  }

  /** Where a mark is, as a share of the width; null outside. */
  placeOf(mark) {
    const [from, to] = this.overview && this.byTime ? [this.overview.low, this.overview.high] : this.edges();
    const value = this.byTime ? (this.overview ? mark.at : mark.at - this.pages.start) : mark.page;
    const along = value === null ? -1 : (value - from) / (to - from);
    return along >= 0 && along <= 1 ? along : null;
  }

  drawMarks(pen, width, height, tints) {
    pen.strokeStyle = tints.mark;
    pen.fillStyle = tints.mark;
    for (const mark of this.marks) {
      const along = this.placeOf(mark);
      if (along === null) continue;
      const x = Math.round(along * width) + 0.5;
      pen.globalAlpha = 0.45;
      pen.beginPath();
      pen.moveTo(x, 8);
      pen.lineTo(x, height - MARGIN.bottom);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.beginPath();
      pen.arc(x, 8, 3.2, 0, 7);
      pen.fill();
    }
  }

  /** How many pixels of the strip are for the pages; the rest is for the forecast. */
  mapWidth() {
    return this.strip.clientWidth * (this.forecast ? 1 - FORECAST : 1);
  }

  drawMap(tints, scale) {
    const { clientWidth, clientHeight: height } = this.strip;
    Object.assign(this.map, { width: Math.round(clientWidth * scale), height: Math.round(height * scale) });
    const width = this.mapWidth();
    const pen = this.map.getContext("2d");
    pen.scale(scale, scale);
    const values = this.whole?.harvest ?? [];
    pen.fillStyle = tints.good;
    pen.globalAlpha = 0.4;
    values.forEach((value, at) => value !== null && pen.fillRect((at / values.length) * width, height - value * (height - 6), Math.ceil(width / values.length), value * (height - 6)));
    const [left, right] = [(this.first - 1) / this.pages.count, this.last / this.pages.count].map((share) => share * width);
    pen.globalAlpha = 0.14;
    pen.fillStyle = tints.said;
    pen.fillRect(left, 0, Math.max(3, right - left), height);
    pen.globalAlpha = 1;
    pen.strokeStyle = tints.said;
    pen.lineWidth = 2;
    pen.strokeRect(left + 1, 1, Math.max(3, right - left - 2), height - 2);
    if (this.forecast) this.drawForecast(pen, width, clientWidth, height, tints);
  }

  /** The harvest rate to be expected next: its value as a bar, its interval as a whisker. */
  drawForecast(pen, from, to, height, tints) {
    const { relevant, pages } = this.forecast;
    const y = (value) => height - Math.min(1, value / Math.max(1, pages)) * (height - 6);
    const middle = (from + to) / 2;
    pen.globalAlpha = 0.35;
    pen.fillStyle = tints.mark;
    pen.fillRect(from + 6, y(relevant.value), to - from - 12, height - y(relevant.value));
    pen.globalAlpha = 1;
    pen.strokeStyle = tints.mark;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(middle, y(relevant.low));
    pen.lineTo(middle, y(relevant.high));
    for (const value of [relevant.low, relevant.high]) {
      pen.moveTo(middle - 5, y(value));
      pen.lineTo(middle + 5, y(value));
    }
    pen.stroke();
    this.strip.title = `Harvest so far; at the right, the forecast for the next ${count(pages)} pages: ${count(relevant.value)} relevant (${count(relevant.low)} to ${count(relevant.high)})`;
  }

  // ── the pointer and the keyboard ─────────────────────────────────────────────────────────────────────────

  nearest(event) {
    const box = this.area.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const mark = this.marks.find((each) => { const along = this.placeOf(each); return along !== null && Math.abs(along * box.width - x) < 6 && y < 20; });
    if (mark) return { mark, x, y };
    if (this.overview) return { x, y };
    const [from, to] = this.edges();
    const value = from + (x / box.width) * (to - from);
    const reach = ((to - from) / box.width) * 12;
    let best = null;
    let bestFar = 14 * 14;
    const [low, high] = this.byTime ? [this.first, this.last] : [Math.max(this.first, Math.floor(value - reach)), Math.min(this.last, Math.ceil(value + reach))];
    for (let number = low; number <= high; number += 1) {
      const page = this.pages.at(number);
      if (!page) continue;
      const at = this.byTime ? page.seconds : number;
      const far = (((at - value) / (to - from)) * box.width) ** 2 + (this.y(page.relevance + jitter(number) / (1 - 2 * PAD), box.height) - y) ** 2;
      if (far < bestFar) [best, bestFar] = [page, far];
    }
    return { page: best, x, y };
  }

  listenToPointer() {
    let grabbed = null;
    this.area.addEventListener("pointermove", (event) => {
      if (grabbed) {
        const moved = ((grabbed.x - event.clientX) / this.area.clientWidth) * (grabbed.last - grabbed.first);
        if (Math.abs(grabbed.x - event.clientX) > 4) { grabbed.isMoved = true; this.look(grabbed.first + moved, grabbed.last + moved); }
        return;
      }
      this.hover(this.nearest(event));
    });
    this.area.addEventListener("pointerdown", (event) => { grabbed = { x: event.clientX, first: this.first, last: this.last }; });
    window.addEventListener("pointerup", () => { setTimeout(() => { grabbed = null; }); });
    this.area.addEventListener("pointerleave", () => this.hideTip());
    this.area.addEventListener("click", (event) => { const { page } = this.nearest(event); if (page && !grabbed?.isMoved) this.onOpen(page.number); });
    this.area.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY > 0 ? 1.25 : 0.8, (event.clientX - this.area.getBoundingClientRect().left) / this.area.clientWidth); }, { passive: false });
    const brush = (event) => {
      const middle = ((event.clientX - this.strip.getBoundingClientRect().left) / this.mapWidth()) * this.pages.count;
      const half = Math.min(this.last - this.first, Math.max(20, this.pages.count / 5)) / 2;
      this.look(middle - half, middle + half);
    };
    this.strip.addEventListener("pointerdown", (event) => { this.strip.setPointerCapture(event.pointerId); brush(event); });
    this.strip.addEventListener("pointermove", (event) => event.buttons && brush(event));
  }

  zoom(factor, around = 0.5) {
    const size = (this.last - this.first) * factor;
    const middle = this.first + (this.last - this.first) * around;
    if (size >= this.pages.count - 1) { this.choose(0); this.update(true); } else this.look(middle - size * around, middle + size * (1 - around));
  }

  onKey(event) {
    const step = (this.last - this.first) / 4;
    const keys = { ArrowLeft: () => this.look(this.first - step, this.last - step), ArrowRight: () => this.look(this.first + step, this.last + step), "+": () => this.zoom(0.6), "-": () => this.zoom(1.6), Home: () => this.look(1, this.last - this.first + 1), End: () => { this.choose(this.span || 0); this.update(true); } };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  }

  hideTip() {
    this.tip.hidden = true;
    this.hovered = "";
  }

  async hover({ page, mark, x, y }) {
    this.area.style.cursor = page ? "pointer" : "";
    const key = mark ? `m${mark.id}` : page?.number ?? "";
    if (!page && !mark) { this.hideTip(); return; }
    this.tip.style.left = `${Math.min(x + 14, this.area.clientWidth - 250)}px`;
    this.tip.style.top = `${Math.min(y + 14, this.area.clientHeight - 80)}px`;
    if (this.hovered === key) return;
    this.hovered = key;
    this.tip.hidden = false;
    if (mark) { put(this.tip, h("b", {}, mark.kind), mark.message.slice(0, 240)); return; }
    put(this.tip, h("span", { class: "muted" }, `page ${count(page.number)} · relevance ${page.relevance.toFixed(3)}`));
    const found = await get(crawlPath(this.pages.id, `/pages/${page.number}/brief`));
    if (this.hovered === key) put(this.tip, h("b", {}, found.title || "(no title)"), h("span", { class: "muted" }, `${found.host} · page ${count(page.number)} · relevance ${(found.relevance ?? 0).toFixed(3)}`));
  }
}
