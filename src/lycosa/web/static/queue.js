// The queue: what comes next and why; raise, drop or exclude a URL, a host or a pattern; and take it back.

import { crawlPath, get, post } from "./api.js";
import { ago, count, doing, empty, h, hostOf, outside, put, say } from "./dom.js";

export async function queueTab(body, { crawl, listen, unlisten }) {
  const search = h("input", { type: "search", placeholder: "part of a URL", "aria-label": "Search the queue by URL" });
  const list = h("div", { class: "scroll" });
  const orders = h("div");
  const why = h("section", { class: "card" }, h("h2", {}, "Why?"), h("p", { class: "hint" }, "Choose a link, or ask for any URL, also one that was fetched or left out."));
  const asked = h("input", { type: "url", placeholder: "https://…", class: "grow", "aria-label": "URL to explain", name: "explain" });
  const pattern = h("input", { type: "text", placeholder: "example.org, *.example.org or /tag/*", class: "grow", "aria-label": "Pattern of URLs", name: "pattern" });
  const facts = h("div", { "aria-live": "polite" });
  why.append(h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); explain(asked.value); } }, asked, h("button", { type: "submit" }, "Explain")), facts);

  async function load() {
    const found = await get(crawlPath(crawl.id, "/queue"), { words: search.value.trim(), count: 100 });
    put(list, found.links.length ? table(found.links) : empty("Nothing waits", search.value ? "No waiting link has this in its URL." : "Every link that was found has been dealt with, or the crawl has not begun."));
    await loadOrders();
  }

  async function loadOrders() {
    const { commands } = await get(crawlPath(crawl.id, "/commands"));
    const shown = commands.filter((command) => !["pause", "resume", "stop"].includes(command.kind));
    put(orders, shown.length ? h("ul", { class: "path" }, shown.slice(0, 30).map((command) => h("li", {},
      h("strong", {}, command.kind), ` ${command.target} `, h("span", { class: "muted" }, command.taken_at ? `· ${command.result} · ${ago(command.taken_at)}` : crawl.state === "running" || crawl.state === "paused" ? "· within a second" : "· when the crawl goes on"), " ",
      command.can_be_undone ? h("button", { type: "button", class: "small", onclick: doing(() => order("undo", String(command.id))) }, "Undo") : null))) : h("p", { class: "hint" }, "Nothing was raised, dropped or excluded so far."));
  }

  async function order(kind, target) {
    await post(crawlPath(crawl.id, "/commands"), { kind, target });
    say(crawl.state === "running" || crawl.state === "paused" ? "the crawl does it within a second" : "kept; the crawl does it when it goes on");
    await loadOrders();
    setTimeout(() => load().catch(() => {}), 1800);
  }

  async function explain(url) {
    if (!url) return;
    asked.value = url;
    put(facts, h("p", { class: "muted" }, "Asking; this takes a few seconds, as the strategy is told everything again."));
    try {
      const found = await get(crawlPath(crawl.id, "/explain"), { url });
      put(facts, h("dl", { class: "facts" }, found.facts.map(([name, words]) => [h("dt", {}, name), h("dd", {}, words)])));
    } catch (error) {
      put(facts, h("div", { class: "notice bad" }, error.message));
    }
  }

  function table(links) {
    return h("table", {},
      h("thead", {}, h("tr", {}, h("th", { class: "number wide-only" }, "Turn"), h("th", {}, "Link"), h("th", { class: "number" }, "Score"), h("th", { class: "number wide-only" }, "Distance"), h("th", {}, "Do"))),
      h("tbody", {}, links.map((link) => h("tr", {},
        h("td", { class: "number muted wide-only" }, count(link.place)),
        h("td", {}, h("button", { class: "title", type: "button", onclick: () => explain(link.url) }, link.anchor || "(no anchor)"), link.reason ? h("span", { class: "chip" }, link.reason) : null, link.rests_for ? h("span", { class: "chip plain" }, `host rests ${Math.ceil(link.rests_for)} s`) : null, link.tries ? h("span", { class: "chip against" }, `tried ${link.tries}×`) : null, h("span", { class: "url" }, outside(link.url))),
        h("td", { class: "number" }, link.score.toFixed(3)), h("td", { class: "number wide-only" }, count(link.distance)),
        h("td", { class: "nowrap" }, act("Raise", "raise", link.url), act("Drop", "drop", link.url), act("Exclude", "exclude", hostOf(link.url)))))));
  }

  const act = (name, kind, target) => h("button", { type: "button", class: "small quiet", title: `${kind} ${target}`, "aria-label": `${kind} ${target}`, onclick: doing(() => order(kind, target)) }, name);
  search.addEventListener("change", () => load().catch((error) => say(error.message, true)));
  put(body, h("div", { class: "two" },
    h("section", { class: "card" }, h("div", { class: "row between" }, h("h2", {}, "What comes next"), search), list),
    h("div", { class: "stack" }, why,
      h("section", { class: "card stack" }, h("h2", {}, "Raise, drop, exclude"), h("p", { class: "hint" }, "Raise: what matches and waits comes first. Drop: it leaves the queue until it is found again. Exclude: it is never fetched."), pattern,
        h("div", { class: "row" }, ["raise", "drop", "exclude"].map((kind) => h("button", { type: "button", onclick: doing(async () => { await order(kind, pattern.value.trim()); pattern.value = ""; }) }, kind[0].toUpperCase() + kind.slice(1)))), orders))));
  let pages = -1;
  const listener = (figures) => {
    if (figures.pages === pages) return;
    const isFirst = pages < 0;
    pages = figures.pages;
    if (!isFirst && !list.contains(document.activeElement)) load().catch(() => {});
  };
  await load();
  listen(listener);
  return () => unlisten(listener);
}
