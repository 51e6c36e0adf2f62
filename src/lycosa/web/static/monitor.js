// The monitor: a dot per page, the moving average, what happened; live, zoomed, back to the beginning. Figures beside it.

import { crawlPath, get } from "./api.js";
import { clock, count, empty, h, put, share } from "./dom.js";
import { openCard } from "./card.js";
import { figuresPanel } from "./figures.js";
import { Pages } from "./pages_in_view.js";
import { Plot } from "./plot.js";

const LATEST = 20;

export async function monitorTab(body, { crawl, state, listen, unlisten }) {
  const pages = new Pages(crawl.id);
  pages.update({ pages: crawl.pages, version: state.figures?.version ?? 0 });
  const side = h("div", { class: "stack" });
  const latest = h("div", { class: "scroll" });
  const events = h("ol", { class: "events", tabindex: "0", "aria-label": "Events, newest first" });
  const plot = new Plot(pages, { onOpen: (number) => openCard(crawl.id, number, refresh) });
  const wait = empty("No page yet", "The first dots appear as soon as a page has been fetched and judged. Hosts are asked politely, so that may take some seconds.");
  const picture = h("section", { class: "card", "aria-labelledby": "dots" }, h("div", { class: "row between" }, h("h2", { id: "dots" }, "Every page is a dot"), plot.buttons), plot.element);
  const left = h("div", { class: "stack" }, pages.count ? picture : wait,
    h("section", { class: "card" }, h("h2", {}, "Latest pages"), latest),
    h("section", { class: "card" }, h("h2", {}, "What happened"), events));
  put(body, h("div", { class: "monitor" }, left, side));
  const panel = figuresPanel(side, crawl);
  let lastPages = -1;
  let lastEvent = -1;

  async function refresh(now = state.figures) {
    if (!now) return;
    pages.update({ pages: now.pages, version: now.version });
    if (now.pages && wait.isConnected) {
      wait.replaceWith(picture);
      await plot.start(true);
    }
    panel.show(now);
    const isNew = JSON.stringify(now.forecast) !== JSON.stringify(plot.forecast);
    plot.forecast = now.forecast ?? null;
    await plot.update();
    if (isNew) plot.draw();
    if (now.pages !== lastPages || now.version !== panel.version) {
      lastPages = now.pages;
      panel.version = now.version;
      const found = await get(crawlPath(crawl.id, "/results"), { order: "newest", count: LATEST });
      put(latest, found.pages.length ? table(found.pages, (number) => openCard(crawl.id, number, refresh)) : h("p", { class: "muted" }, "None yet."));
    }
    if (now.last_event !== lastEvent) {
      const { events: news } = await get(crawlPath(crawl.id, "/events"), { after: 0 });
      lastEvent = now.last_event;
      put(events, news.length ? news.slice(-80).reverse().map((event) => h("li", {}, h("time", { class: "muted" }, clock(event.at)), h("span", { class: "kind" }, event.kind), h("span", { class: "message" }, event.message))) : h("li", {}, h("span", { class: "muted" }, "Nothing yet.")));
    }
  }

  let busy = false;
  const listener = async (now) => {
    if (busy) return;
    busy = true;
    try {
      await refresh(now);
    } catch {
      // the next figures come in a second
    } finally {
      busy = false;
    }
  };
  listen(listener);
  if (pages.count) await plot.start(crawl.state === "running" || crawl.state === "paused");
  panel.start();
  if (state.figures) await listener(state.figures);
  return () => {
    unlisten(listener);
    plot.end();
    panel.end();
  };
}

/** Pages as a table; also what a screen reader has instead of the dots. */
export function table(pages, open) {
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", { class: "number wide-only" }, "No."), h("th", {}, "Page"), h("th", {}, "Relevance"), h("th", { class: "wide-only" }, "Language"), h("th", { class: "number wide-only" }, "Words"))),
    h("tbody", {}, pages.map((page) => h("tr", { class: "click", onclick: () => open(page.number) },
      h("td", { class: "number muted wide-only" }, count(page.number)),
      h("td", {}, h("button", { class: "title", type: "button", onclick: (event) => { event.stopPropagation(); open(page.number); } }, page.title || "(no title)"), said(page), h("span", { class: "url" }, page.url), page.snippet?.length ? h("p", { class: "snippet" }, page.snippet.map(([piece, isMarked]) => (isMarked ? h("mark", {}, piece) : piece))) : null),
      h("td", {}, share(page.relevance, page.is_relevant)),
      h("td", { class: "wide-only" }, page.language || "–"),
      h("td", { class: "number wide-only" }, count(page.words))))));
}

function said(page) {
  if (page.answer === "relevant") return h("span", { class: "chip" }, "you: useful");
  return page.answer === "irrelevant" ? h("span", { class: "chip against" }, "you: not useful") : null;
}

