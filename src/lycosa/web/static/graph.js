// A graph of pages that can be explored: nodes repel each other, links pull; zoomed, moved, and looked at node by node.

import { count, h, svg } from "./dom.js";

const [WIDTH, HEIGHT, STEPS, EDGE] = [900, 520, 260, 26];

/** Scales the nodes so that they fill the picture. */
function fit(nodes) {
  for (const [key, size] of [["x", WIDTH], ["y", HEIGHT]]) {
    const values = nodes.map((node) => node[key]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    for (const node of nodes) node[key] = EDGE + ((node[key] - low) / (high - low || 1)) * (size - 2 * EDGE);
  }
}

/** Where each node goes: a few hundred steps from a spiral, always the same. */
function place(all, links) {
  all.forEach((node, at) => {
    const far = 190 * Math.sqrt((at + 1) / all.length);
    Object.assign(node, { x: WIDTH / 2 + far * Math.cos(at * 2.4), y: HEIGHT / 2 + far * Math.sin(at * 2.4), dx: 0, dy: 0 });
  });
  for (let step = 0; step < STEPS; step += 1) {
    const heat = 1 - step / STEPS;
    for (const a of all) {
      a.dx = (WIDTH / 2 - a.x) * 0.012;
      a.dy = (HEIGHT / 2 - a.y) * 0.016;
      for (const b of all) {
        const [x, y] = [a.x - b.x, a.y - b.y];
        const far = x * x + y * y + 0.01;
        a.dx += (x / far) * 620;
        a.dy += (y / far) * 620;
      }
    }
    for (const [a, b] of links) {
      const [x, y] = [(b.x - a.x) * 0.02, (b.y - a.y) * 0.02];
      a.dx += x;
      a.dy += y;
      b.dx -= x;
      b.dy -= y;
    }
    for (const node of all) {
      node.x += Math.max(-18, Math.min(18, node.dx)) * heat;
      node.y += Math.max(-18, Math.min(18, node.dy)) * heat;
    }
  }
  fit(all);
}

/** `rows`: {link, url, title, score, number, isHub}; `edges`: {source, target}. `open` is told the number of a page. */
export function graph(rows, edges, open) {
  const nodes = new Map(rows.map((row) => [row.link, { ...row, near: new Set(), lines: [] }]));
  const all = [...nodes.values()];
  const links = edges.map((edge) => [nodes.get(edge.source), nodes.get(edge.target)]).filter(([a, b]) => a && b);
  place(all, links);
  const best = Math.max(...all.map((node) => node.score), 1e-9);
  const lines = links.map(([a, b]) => {
    const line = svg("line", { x1: a.x.toFixed(1), y1: a.y.toFixed(1), x2: b.x.toFixed(1), y2: b.y.toFixed(1) });
    a.near.add(b).add(a);
    b.near.add(a).add(b);
    a.lines.push(line);
    b.lines.push(line);
    return line;
  });
  const named = new Set(all.filter((node) => node.score > best * 0.45).slice(0, 14));
  for (const node of all) {
    node.circle = svg("circle", { class: node.isHub ? "hub" : null, cx: node.x.toFixed(1), cy: node.y.toFixed(1), r: (4 + 8 * Math.sqrt(node.score / best)).toFixed(1) }, svg("title", {}, `${node.title || node.url}\n${node.url}`));
    const isLeft = node.x > WIDTH * 0.72; // its name would be cut off at the edge
    node.name = svg("text", { x: (node.x + (isLeft ? -10 : 10)).toFixed(1), y: (node.y + 4).toFixed(1), "text-anchor": isLeft ? "end" : "start", class: named.has(node) ? "named" : null }, (node.title || node.url).slice(0, 34));
  }
  const picture = svg("svg", { class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${all.length} pages and ${links.length} links among them; the tables below have the same in words` }, lines, all.map((node) => node.circle), all.map((node) => node.name));
  const told = h("p", { class: "hint", "aria-live": "polite" }, "Point at a page to see whom it cites and who cites it.");
  const light = (chosen) => {
    picture.classList.toggle("lit", Boolean(chosen));
    for (const node of all) {
      const isNear = chosen && (node === chosen || chosen.near.has(node));
      node.circle.classList.toggle("near", Boolean(isNear));
      node.name.classList.toggle("near", Boolean(isNear));
    }
    for (const line of lines) line.classList.toggle("near", Boolean(chosen?.lines.includes(line)));
    if (chosen) told.textContent = `${chosen.title || chosen.url}: linked with ${count(Math.max(0, chosen.near.size - 1))} of these pages. A click opens it.`;
  };
  for (const node of all) {
    node.circle.addEventListener("pointerenter", () => light(node));
    node.circle.addEventListener("pointerleave", () => light(null));
    node.circle.addEventListener("click", () => node.number && open(node.number));
  }
  return h("div", { class: "stack" }, explorer(picture), told);
}

/** The wheel, dragging, keys and buttons move the part that is seen. */
function explorer(picture) {
  const view = { x: 0, y: 0, size: 1 };
  const show = () => {
    view.size = Math.max(0.08, Math.min(1, view.size));
    view.x = Math.max(0, Math.min(WIDTH * (1 - view.size), view.x));
    view.y = Math.max(0, Math.min(HEIGHT * (1 - view.size), view.y));
    picture.setAttribute("viewBox", [view.x, view.y, WIDTH * view.size, HEIGHT * view.size].map((value) => value.toFixed(1)).join(" "));
    picture.classList.toggle("close", view.size < 0.5);
  };
  const zoom = (factor, atX = 0.5, atY = 0.5) => {
    const size = Math.max(0.08, Math.min(1, view.size * factor));
    view.x += WIDTH * (view.size - size) * atX;
    view.y += HEIGHT * (view.size - size) * atY;
    view.size = size;
    show();
  };
  const move = (x, y) => { view.x += x * WIDTH * view.size; view.y += y * HEIGHT * view.size; show(); };
  const keys = { "+": () => zoom(0.7), "-": () => zoom(1.4), ArrowLeft: () => move(-0.15, 0), ArrowRight: () => move(0.15, 0), ArrowUp: () => move(0, -0.15), ArrowDown: () => move(0, 0.15), Home: () => zoom(100) };
  const button = (name, words, key) => h("button", { type: "button", class: "small", "aria-label": words, onclick: () => keys[key]() }, name);
  const area = h("div", { class: "explorer", tabindex: "0", role: "group", "aria-label": "Graph; plus and minus zoom, arrow keys move, Home shows all" }, picture, h("div", { class: "zoom" }, button("+", "Zoom in", "+"), button("−", "Zoom out", "-"), button("All", "Show all", "Home")));
  area.addEventListener("keydown", (event) => { if (keys[event.key] && event.target === area) { event.preventDefault(); keys[event.key](); } });
  area.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = picture.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.2 : 0.83, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, { passive: false });
  let grabbed = null;
  picture.addEventListener("pointerdown", (event) => { grabbed = { x: event.clientX, y: event.clientY }; });
  picture.addEventListener("pointermove", (event) => {
    if (!grabbed || !event.buttons) return;
    const box = picture.getBoundingClientRect();
    move((grabbed.x - event.clientX) / box.width, (grabbed.y - event.clientY) / box.height);
    grabbed = { x: event.clientX, y: event.clientY };
  });
  picture.addEventListener("pointerup", () => { grabbed = null; });
  return area;
}
