// Small pictures: a curve, bars, a histogram, lines over numbers. All are SVG, and each says in words what it shows.

import { count, h, svg } from "./dom.js";

export function sparkline(values, words) {
  const width = 210;
  const height = 46;
  if (!values || values.length < 2) return h("span", { class: "muted" }, values?.length ? "" : "no page yet");
  const top = Math.max(...values, 0.05);
  const x = (place) => (place / (values.length - 1)) * width;
  const y = (value) => height - 3 - (value / top) * (height - 8);
  const line = values.map((value, place) => `${place ? "L" : "M"}${x(place).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  return svg("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words, preserveAspectRatio: "none" },
    svg("path", { class: "area", d: `${line}L${width} ${height}L0 ${height}Z` }), svg("path", { class: "line", d: line }));
}

/** Named amounts, longest first. */
export function bars(rows, { isGood = () => true } = {}) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  return h("ul", { class: "bars" }, rows.map((row) => {
    const inner = h("i");
    inner.style.width = `${Math.max(2, (100 * row.count) / most)}%`;
    return h("li", {}, h("span", { class: "name", title: row.name }, row.name), h("span", { class: `bar${isGood(row) ? " good" : ""}`, "aria-hidden": "true" }, inner), h("span", { class: "right" }, count(row.count)));
  }));
}

export function histogram(edges, counts, words) {
  const width = 300;
  const height = 84;
  const most = Math.max(1, ...counts);
  const step = width / Math.max(1, counts.length);
  const form = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(2));
  return svg("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
    counts.map((value, place) => {
      const tall = value ? Math.max(1, (value / most) * (height - 18)) : 0;
      return svg("rect", { x: place * step + 0.5, y: height - 14 - tall, width: Math.max(0.5, step - 1), height: tall, rx: 1 });
    }),
    svg("text", { x: 0, y: height - 2 }, edges.length ? form(edges[0]) : ""), svg("text", { x: width, y: height - 2, "text-anchor": "end" }, edges.length ? form(edges.at(-1)) : ""));
}

/** How many of each row go to each column, the more the darker. */
export function matrix(names, counts, { corner = "" } = {}) {
  const most = Math.max(1, ...counts.flat());
  const short = (name) => name.split("/").pop().slice(0, 18);
  const cell = (value) => {
    const box = h("td", { class: value ? "number" : "number none" }, value ? count(value) : "·");
    if (value) box.style.setProperty("--share", `${Math.round(10 + 35 * (Math.log1p(value) / Math.log1p(most)))}%`);
    return box;
  };
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Matrix" }, h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, corner), names.map((name) => h("th", { scope: "col", title: name }, h("span", {}, short(name)))))),
    h("tbody", {}, names.map((name, row) => h("tr", {}, h("th", { scope: "row", title: name }, name.startsWith("★") ? `★ ${short(name.slice(2))}` : short(name)), counts[row].map(cell))))));
}

/** Columns of numbers over the first column: lines if that is a number, bars if it is a name. */
export function chart(names, rows) {
  const numeric = names.map((_, place) => rows.every((row) => row[place] === null || typeof row[place] === "number"));
  const shown = names.map((name, place) => ({ name, place })).filter(({ place }) => place > 0 && numeric[place]).slice(0, 3);
  if (rows.length < 2 || !shown.length) return h("p", { class: "hint" }, "A chart needs two rows or more, and a column of numbers after the first.");
  if (!numeric[0]) return bars(rows.slice(0, 40).map((row) => ({ name: String(row[0] ?? ""), count: row[shown[0].place] ?? 0 })));
  const width = 800;
  const height = 280;
  const pad = { left: 56, right: 12, top: 12, bottom: 26 };
  const xs = rows.map((row) => row[0] ?? 0);
  const values = shown.flatMap(({ place }) => rows.map((row) => row[place] ?? 0));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [Math.min(0, ...values), Math.max(...values)];
  const x = (value) => pad.left + ((value - x0) / (x1 - x0 || 1)) * (width - pad.left - pad.right);
  const y = (value) => height - pad.bottom - ((value - y0) / (y1 - y0 || 1)) * (height - pad.top - pad.bottom);
  return h("div", {},
    svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${shown.map((each) => each.name).join(", ")} over ${names[0]}` },
      svg("line", { class: "axis", x1: pad.left, x2: width - pad.right, y1: y(y0), y2: y(y0) }),
      svg("text", { x: pad.left - 6, y: y(y1) + 4, "text-anchor": "end" }, short(y1)), svg("text", { x: pad.left - 6, y: y(y0) + 4, "text-anchor": "end" }, short(y0)),
      svg("text", { x: pad.left, y: height - 6 }, short(x0)), svg("text", { x: width - pad.right, y: height - 6, "text-anchor": "end" }, `${names[0]} ${short(x1)}`),
      shown.map(({ place }, number) => svg("polyline", { class: `s${number}`, points: rows.map((row) => `${x(row[0] ?? 0).toFixed(1)},${y(row[place] ?? 0).toFixed(1)}`).join(" ") }))),
    h("div", { class: "legend" }, shown.map(({ name }, number) => h("span", {}, svg("svg", { class: "chart", width: 18, height: 4, viewBox: "0 0 18 4" }, svg("rect", { class: `s${number}`, width: 18, height: 3 })), name))));
}

const short = (value) => (Number.isInteger(value) ? count(value) : Number(value).toPrecision(3));
