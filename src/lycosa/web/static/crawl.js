// One crawl: its head, its tabs, and the stream of figures that they share.

import { crawlPath, follow, get } from "./api.js";
import { h, put, say } from "./dom.js";
import { controls, pill } from "./crawls.js";
import { monitorTab } from "./monitor.js";
import { reviewTab } from "./review.js";
import { queueTab } from "./queue.js";
import { resultsTab } from "./results.js";
import { sitesTab } from "./sites.js";
import { sqlTab } from "./sql.js";
import { alarmsTab } from "./alarms.js";

const TABS = { monitor: ["Monitor", monitorTab], review: ["Review", reviewTab], queue: ["Queue", queueTab], results: ["Results", resultsTab], sites: ["Sites", sitesTab], sql: ["SQL", sqlTab], alarms: ["Alarms", alarmsTab], settings: ["Settings", settingsTab] };

export async function crawlView(main, id, first) {
  let wanted = first; // may change while this is being made
  let showWanted = () => {};
  main.addEventListener("tab", (event) => { wanted = event.detail; showWanted(); });
  const crawl = await get(crawlPath(id));
  const head = h("div", { class: "crawl-head" });
  const body = h("div", { class: "stack" });
  const tabs = h("nav", { class: "tabs", "aria-label": "Views of this crawl" });
  put(main, head, tabs, body);
  const listeners = new Set();
  const state = { crawl, figures: null };
  let leaveTab = () => {};
  let current = "";

  const showHead = () => put(head, h("div", { class: "row between" },
    h("div", { class: "grow" }, h("h1", {}, crawl.title || crawl.id), h("div", { class: "muted" }, `${crawl.id} · ${crawl.strategy}${crawl.shards ? ` · all ${crawl.shards} shards of a cluster` : ""}${state.figures?.stop_reason ? ` · ${state.figures.stop_reason}` : ""}`)),
    h("div", { class: "row" }, pill(crawl.state), state.figures?.is_learning ? h("span", { class: "pill starting" }, "learning") : null, controls(crawl, refresh))));

  async function refresh() {
    Object.assign(crawl, await get(crawlPath(id)));
    showHead();
  }

  async function showTab(name) {
    const [, view] = TABS[name] ?? TABS.monitor;
    current = TABS[name] ? name : "monitor";
    leaveTab();
    leaveTab = () => {};
    put(tabs, Object.entries(TABS).map(([key, [label]]) => h("a", { href: `#/crawl/${encodeURIComponent(id)}/${key}`, "aria-current": key === current ? "page" : null }, label)));
    tabs.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const here = h("div", { class: "stack" }, h("p", { class: "loading" }, "Loading…"));
    put(body, here);
    document.title = `${crawl.title || crawl.id} – ${TABS[current][0]} – Lycosa`;
    try {
      const end = await view(here, { crawl, state, listen: (listener) => listeners.add(listener), unlisten: (listener) => listeners.delete(listener) });
      if (typeof end === "function" && here.isConnected) leaveTab = end;
      else if (typeof end === "function") end();
    } catch (error) {
      put(here, h("div", { class: "notice bad", role: "alert" }, error.message));
    }
  }

  const heard = (figures) => {
    const before = state.figures;
    state.figures = figures;
    const now = figures.is_running ? (figures.is_paused ? "paused" : "running") : crawl.state === "running" || crawl.state === "paused" ? "stopped" : crawl.state;
    const changed = now !== crawl.state || before?.is_learning !== figures.is_learning || !before;
    crawl.state = now;
    crawl.pages = figures.pages;
    crawl.why = figures.stop_reason || crawl.why;
    if (changed) showHead();
    for (const listener of listeners) listener(figures);
  };
  let lost = "";
  showHead();
  showWanted = () => wanted !== current && showTab(wanted);
  await showWanted();
  // Only now: the first figures of a large crawl make the server read all its pages.
  const endStream = follow(id, (figures) => { lost = ""; heard(figures); }, (words) => { if (words !== lost) say(words, true); lost = words; });
  return () => {
    endStream();
    leaveTab();
    showWanted = () => {};
    document.title = "Lycosa";
  };
}

function settingsTab(body, { crawl }) {
  put(body, h("section", { class: "card" }, h("h2", {}, "Settings in force"), h("p", { class: "hint" }, "This is the crawl's own lycosa.toml. What the settings mean is said in the form for a new crawl, and in docs/settings.md."), h("pre", { class: "text mono", tabindex: "0" }, crawl.toml)),
    crawl.log ? h("section", { class: "card" }, h("h2", {}, "Last words of its process"), h("pre", { class: "text mono", tabindex: "0" }, crawl.log)) : null);
}
