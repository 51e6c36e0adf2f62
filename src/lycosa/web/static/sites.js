// Sites and hubs: who is cited by relevant pages, which sites are dense, how far from the seeds, and the graph as a picture.

import { crawlPath, get, post } from "./api.js";
import { count, doing, empty, h, outside, put, say, share } from "./dom.js";
import { openCard } from "./card.js";
import { graph } from "./graph.js";
import { citations, neighbours } from "./neighbours.js";

export async function sitesTab(body, { crawl }) {
  const found = await get(crawlPath(crawl.id, "/sites"), { count: 60 });
  if (!found.sites.length) {
    put(body, empty("No site yet", "Sites are listed as soon as a page of theirs has been fetched."));
    return;
  }
  const hubs = h("div", { class: "stack" }, h("p", { class: "muted" }, "Looking for hubs and authorities; a moment."));
  const near = h("div", { class: "stack" });
  put(body, hubs, near, h("div", { class: "half" }, siteList(found.sites, crawl), distances(found.distances)));
  showHubs(hubs, crawl, { within: false, top: 25 }).catch((error) => put(hubs, h("div", { class: "notice" }, error.message)));
  const [around, cited] = await Promise.all([neighbours(crawl.id), citations(crawl.id)]);
  put(near, around ? h("section", { class: "card stack" }, h("h2", {}, "Topics near the focus"), around) : null, cited);
}

/** Sites, each marked useful, not useful or neither: useful ones come first, others are asked for nothing more. */
function siteList(sites, crawl) {
  const place = h("div", { class: "scroll" });
  const show = async () => {
    const { commands } = await get(crawlPath(crawl.id, "/commands"));
    const standing = (kind, name) => commands.find((command) => command.can_be_undone && command.kind === kind && command.target === name);
    const order = async (kind, target, words) => {
      await post(crawlPath(crawl.id, "/commands"), { kind, target: String(target) });
      say(`${words}${crawl.state === "running" ? "" : " when the crawl goes on"}`);
      await show();
    };
    const mark = (site, kind, label, words) => {
      const given = standing(kind, site.name);
      return h("button", { type: "button", class: "small quiet", "aria-pressed": String(Boolean(given)), "aria-label": `${site.name}: ${label}`, onclick: doing(() => (given ? order("undo", given.id, `${site.name}: taken back`) : order(kind, site.name, `${site.name}: ${words}`))) }, label);
    };
    put(place, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Site"), h("th", { class: "number" }, "Relevant"), h("th", { class: "wide-only" }, "Density"), h("th", {}, "For you"))),
      h("tbody", {}, sites.map((site) => h("tr", {},
        h("td", { class: "name" }, site.name, site.set_aside ? h("span", { class: "url" }, `set aside: ${site.set_aside}`) : null), h("td", { class: "number" }, `${count(site.relevant)} of ${count(site.pages)}`), h("td", { class: "wide-only" }, share(site.density, site.density >= 0.5)),
        h("td", {}, mark(site, "raise", "Useful", "its waiting links come first"), mark(site, "exclude", "Not useful", "it is asked for nothing more")))))));
  };
  show().catch((error) => put(place, h("div", { class: "notice bad" }, error.message)));
  return h("section", { class: "card" }, h("h2", {}, "Sites"), h("p", { class: "hint" }, "Useful: what waits there comes first. Not useful: nothing more is fetched. A second click takes it back."), place);
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

async function showHubs(place, crawl, { within, top }) {
  const found = await get(crawlPath(crawl.id, "/hubs"), { top, within_sites: within });
  const again = (change) => showHubs(place, crawl, { within, top, ...change }).catch((error) => say(error.message, true));
  const list = (name, rows, words) => h("section", { class: "card" }, h("h2", {}, name), h("p", { class: "hint" }, words), rows.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Page"), h("th", {}, "Relevance"))), h("tbody", {}, rows.slice(0, 12).map((row) => h("tr", {}, h("td", {}, row.number ? h("button", { class: "title", type: "button", onclick: () => openCard(crawl.id, row.number) }, row.title || "(no title)") : row.title, h("span", { class: "url" }, outside(row.url))), h("td", {}, share(row.relevance, row.relevance >= 0.5))))))) : h("p", { class: "muted" }, "None: no link between sites leads to a relevant page."));
  put(place,
    h("section", { class: "card" }, h("div", { class: "row between" }, h("h2", {}, "The relevant community"), h("div", { class: "row" },
      h("label", { class: "line" }, "pages of each kind", h("select", { onchange: (event) => again({ top: Number(event.target.value) }) }, [10, 25, 50, 100].map((size) => h("option", { value: size, selected: size === top }, size)))),
      h("label", { class: "line" }, h("input", { type: "checkbox", checked: within, onchange: (event) => again({ within: event.target.checked }) }), "count links within a site, too"))),
      found.links.length ? graph([...found.authorities.map((row) => ({ ...row, isHub: false })), ...found.hubs.map((row) => ({ ...row, isHub: true }))], found.links, (number) => openCard(crawl.id, number)) : h("p", { class: "muted" }, "No links among the hubs and authorities to draw."), h("p", { class: "hint" }, "Amber: hubs, which cite many relevant pages. Green: authorities, which good hubs cite.")),
    h("div", { class: "half" }, list("Hubs", found.hubs, "Pages that cite many relevant pages."), list("Authorities", found.authorities, "Relevant pages that good hubs cite.")));
}
