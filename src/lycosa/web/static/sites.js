// Sites and hubs: who is cited by relevant pages, which sites are dense, how far from the seeds, and the graph as a picture.

import { crawlPath, get, post } from "./api.js";
import { count, doing, empty, h, outside, percent, put, say, share, svg } from "./dom.js";
import { openCard } from "./card.js";

export async function sitesTab(body, { crawl }) {
  const found = await get(crawlPath(crawl.id, "/sites"), { count: 60 });
  if (!found.sites.length) {
    put(body, empty("No site yet", "Sites are listed as soon as a page of theirs has been fetched."));
    return;
  }
  const hubs = h("div", { class: "stack" }, h("p", { class: "muted" }, "Looking for hubs and authorities; a moment."));
  const near = h("div");
  put(body, hubs, near, h("div", { class: "half" }, siteList(found.sites, crawl), distances(found.distances)));
  showHubs(hubs, crawl, false).catch((error) => put(hubs, h("div", { class: "notice" }, error.message)));
  const around = await get(crawlPath(crawl.id, "/neighbours"));
  if (around.neighbours.length) put(near, neighbours(around));
}

function siteList(sites, crawl) {
  const order = (kind, name) => doing(async () => {
    await post(crawlPath(crawl.id, "/commands"), { kind, target: name });
    say(`${name}: ${kind === "raise" ? "its waiting links come first" : "it is asked for nothing more"}${crawl.state === "running" ? "" : " when the crawl goes on"}`);
  });
  return h("section", { class: "card" }, h("h2", {}, "Sites"), h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "Site"), h("th", { class: "number" }, "Relevant"), h("th", {}, "Density"), h("th", {}, "Do"))),
    h("tbody", {}, sites.map((site) => h("tr", {},
      h("td", {}, site.name, site.set_aside ? h("span", { class: "url" }, `set aside: ${site.set_aside}`) : null), h("td", { class: "number" }, `${count(site.relevant)} of ${count(site.pages)}`), h("td", {}, share(site.density, site.density >= 0.5)),
      h("td", { class: "nowrap" }, h("button", { type: "button", class: "small quiet", "aria-label": `${site.name} is useful: its links first`, onclick: order("raise", site.name) }, "Useful"), h("button", { type: "button", class: "small quiet", "aria-label": `${site.name} is not useful: exclude it`, onclick: order("exclude", site.name) }, "Not"))))))));
}

function distances(rows) {
  const most = Math.max(1, ...rows.map((row) => row.pages));
  return h("section", { class: "card" }, h("h2", {}, "How far from a seed"), h("p", { class: "hint" }, "Number of links from the nearest seed; green is the relevant part."),
    h("ul", { class: "bars" }, rows.map((row) => {
      const [all, good] = [h("i"), h("i")];
      all.style.width = `${(100 * row.pages) / most}%`;
      good.style.width = `${(100 * row.relevant) / most}%`;
      good.className = "over";
      return h("li", {}, h("span", { class: "name" }, row.distance === 0 ? "seed" : `${row.distance} link${row.distance === 1 ? "" : "s"}`), h("span", { class: "bar two-tone", "aria-hidden": "true" }, all, good), h("span", { class: "right nowrap" }, `${count(row.relevant)} of ${count(row.pages)}`));
    })));
}

function neighbours(found) {
  return h("section", { class: "card" }, h("h2", {}, "Topics near the focus"), h("p", { class: "hint" }, `Of ${count(found.pages)} pages that relevant pages link to, ${percent(found.focus, 0)} are on the topic. The others:`),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Topic"), h("th", {}, "Share there"), h("th", {}, "Share elsewhere"))), h("tbody", {}, found.neighbours.map((row) => h("tr", {}, h("td", {}, row.topic), h("td", {}, share(row.share)), h("td", {}, share(row.share_elsewhere)))))),
    found.advice.map((advice) => h("p", { class: "notice" }, advice.reason)));
}

async function showHubs(place, crawl, within) {
  const found = await get(crawlPath(crawl.id, "/hubs"), { top: 25, within_sites: within });
  const list = (name, rows, words) => h("section", { class: "card" }, h("h2", {}, name), h("p", { class: "hint" }, words), rows.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Page"), h("th", {}, "Relevance"))), h("tbody", {}, rows.slice(0, 12).map((row) => h("tr", {}, h("td", {}, row.number ? h("button", { class: "title", type: "button", onclick: () => openCard(crawl.id, row.number) }, row.title || "(no title)") : row.title, h("span", { class: "url" }, outside(row.url))), h("td", {}, share(row.relevance, row.relevance >= 0.5))))))) : h("p", { class: "muted" }, "None: no link between sites leads to a relevant page."));
  put(place,
    h("section", { class: "card" }, h("div", { class: "row between" }, h("h2", {}, "The relevant community"), h("label", { class: "line" }, h("input", { type: "checkbox", checked: within, onchange: (event) => showHubs(place, crawl, event.target.checked).catch((error) => say(error.message, true)) }), "count links within a site, too")),
      found.links.length ? graph(found, (number) => openCard(crawl.id, number)) : h("p", { class: "muted" }, "No links among the hubs and authorities to draw."), h("p", { class: "hint" }, "Amber: hubs, which cite many relevant pages. Green: authorities, which good hubs cite. A click opens the page; the tables below have the same in words.")),
    h("div", { class: "half" }, list("Hubs", found.hubs, "Pages that cite many relevant pages."), list("Authorities", found.authorities, "Relevant pages that good hubs cite.")));
}

/** Scales the nodes so that they fill the picture. */
function fit(nodes, width, height, edge) {
  for (const [key, size] of [["x", width], ["y", height]]) {
    const values = nodes.map((node) => node[key]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    for (const node of nodes) node[key] = edge + ((node[key] - low) / (high - low || 1)) * (size - 2 * edge);
  }
}

/** A picture of who cites whom: nodes repel each other, links pull; a few hundred steps, always the same. */
function graph(found, open) {
  const [width, height] = [900, 520];
  const nodes = new Map();
  for (const row of found.authorities) nodes.set(row.link, { ...row, isHub: false });
  for (const row of found.hubs) nodes.set(row.link, { ...row, isHub: true });
  const all = [...nodes.values()];
  all.forEach((node, at) => Object.assign(node, { x: width / 2 + 190 * Math.cos(at * 2.4) * Math.sqrt((at + 1) / all.length), y: height / 2 + 190 * Math.sin(at * 2.4) * Math.sqrt((at + 1) / all.length), dx: 0, dy: 0 }));
  const links = found.links.map((link) => [nodes.get(link.source), nodes.get(link.target)]).filter(([a, b]) => a && b);
  for (let step = 0; step < 260; step += 1) {
    const heat = 1 - step / 260;
    for (const a of all) {
      a.dx = (width / 2 - a.x) * 0.012;
      a.dy = (height / 2 - a.y) * 0.016;
      for (const b of all) {
        const [x, y] = [a.x - b.x, a.y - b.y];
        const far = x * x + y * y + 0.01;
        a.dx += (x / far) * 620;
        a.dy += (y / far) * 620;
      }
    }
    for (const [a, b] of links) {
      const [x, y] = [(b.x - a.x) * 0.02, (b.y - a.y) * 0.02];
      a.dx += x; a.dy += y; b.dx -= x; b.dy -= y;
    }
    for (const node of all) {
      node.x += Math.max(-18, Math.min(18, node.dx)) * heat;
      node.y += Math.max(-18, Math.min(18, node.dy)) * heat;
    }
  }
  fit(all, width, height, 26);
  const best = Math.max(...all.map((node) => node.score), 1e-9);
  return svg("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${all.length} pages and ${links.length} links among them` },
    links.map(([a, b]) => svg("line", { x1: a.x.toFixed(1), y1: a.y.toFixed(1), x2: b.x.toFixed(1), y2: b.y.toFixed(1) })),
    all.map((node) => svg("circle", { class: node.isHub ? "hub" : null, cx: node.x.toFixed(1), cy: node.y.toFixed(1), r: (4 + 8 * Math.sqrt(node.score / best)).toFixed(1), onclick: () => node.number && open(node.number) }, svg("title", {}, `${node.title || node.url}\n${node.url}`))),
    all.filter((node) => node.score > best * 0.45).slice(0, 14).map((node) => svg("text", { x: (node.x + 10).toFixed(1), y: (node.y + 4).toFixed(1) }, (node.title || node.url).slice(0, 34))));
}
