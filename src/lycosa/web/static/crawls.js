// All crawls: name, state, pages, harvest with its curve, the last event; start, pause, resume, stop.

import { crawlPath, get, post } from "./api.js";
import { ago, count, doing, empty, h, percent, put, say } from "./dom.js";
import { sparkline } from "./charts.js";

const EVERY = 2000;

export async function crawlsView(main) {
  const list = h("div", { class: "crawl-list" });
  const folder = h("span", { class: "muted" });
  put(main, h("div", { class: "row between" }, h("div", {}, h("h1", {}, "Crawls"), folder), h("a", { class: "button main", href: "#/new" }, "New crawl")), list);
  let last = "";
  const show = async () => {
    const found = await get("/api/crawls");
    const text = JSON.stringify(found);
    if (text === last) return;
    last = text;
    folder.textContent = `in ${found.folder.split("/").pop()}/`;
    folder.title = found.folder;
    const focus = document.activeElement?.dataset?.key;
    put(list, found.starting.map(startingItem), found.crawls.map((crawl) => item(crawl, show)), found.crawls.length + found.starting.length ? null : nothing(found.folder));
    if (focus) list.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  };
  await show();
  const timer = setInterval(() => show().catch(() => {}), EVERY);
  return () => clearInterval(timer);
}

function nothing(folder) {
  return empty("No crawl yet", `There is no crawl in ${folder}. Say what you are looking for, give some pages of the kind, and watch it hunt.`, h("a", { class: "button main", href: "#/new" }, "Start the first crawl"));
}

function startingItem(crawl) {
  return h("article", { class: "card" }, h("div", { class: "row between" }, h("h2", {}, crawl.directory.split("/").pop()), pill(crawl.state)), crawl.why ? h("pre", { class: "text" }, crawl.why) : h("p", { class: "muted" }, "Its process is being started."));
}

export function pill(state) {
  return h("span", { class: `pill ${state === "cut off" ? "cut" : state}` }, state);
}

function item(crawl, refresh) {
  if (crawl.state === "unreadable") {
    return h("article", { class: "card" }, h("div", { class: "row between" }, h("h2", {}, crawl.title), pill("unreadable")), h("p", { class: "muted" }, crawl.why));
  }
  const place = `#/crawl/${encodeURIComponent(crawl.id)}`;
  const event = crawl.last_event;
  const last = event ? `${event.kind}: ${event.message} · ${ago(event.at)}` : crawl.why;
  return h("article", { class: "card crawl-item", "aria-label": crawl.title },
    h("div", {},
      h("div", { class: "row" }, h("h2", {}, h("a", { href: place, "data-key": `open ${crawl.id}` }, crawl.title || crawl.id)), pill(crawl.state)),
      h("div", { class: "muted" }, `${crawl.id} · ${crawl.strategy}${crawl.shards ? ` · cluster of ${crawl.shards} shards` : ""}`),
      h("div", { class: "last", title: last }, crawl.state === "stopped" || crawl.state === "cut off" ? `${crawl.state}: ${crawl.why}` : last)),
    sparkline(crawl.spark, `Harvest rate of ${crawl.title} from its first page to its last, ${percent(crawl.harvest)} on average`),
    h("div", {}, h("div", { class: "big" }, count(crawl.relevant), h("small", {}, ` relevant of ${count(crawl.pages)}`)), h("div", { class: "muted" }, `harvest rate ${percent(crawl.harvest)} · budget ${count(crawl.budget)}`)),
    h("div", { class: "row" }, controls(crawl, refresh)));
}

/** The buttons that fit the state of a crawl. */
export function controls(crawl, refresh = () => {}) {
  const order = (kind, done) => doing(async () => {
    await post(crawlPath(crawl.id, "/commands"), { kind });
    say(done);
    setTimeout(refresh, 1200);
  });
  const button = (name, key, action) => h("button", { type: "button", class: "small", "data-key": `${key} ${crawl.id}`, onclick: action }, name);
  if (crawl.state === "running") {
    return [button("Pause", "pause", order("pause", "pausing: what is under way is finished")), button("Stop", "stop", order("stop", "stopping: what is under way is finished"))];
  }
  if (crawl.state === "paused") {
    return [button("Resume", "resume", order("resume", "it goes on")), button("Stop", "stop", order("stop", "stopping"))];
  }
  return [button("Go on…", "run", doing(() => goOn(crawl, refresh)))];
}

function goOn(crawl, refresh) {
  const more = crawl.pages >= crawl.budget ? crawl.budget * 2 : crawl.budget;
  const pages = h("input", { type: "number", min: "1", value: more });
  const box = h("dialog", { "aria-labelledby": "go-on" },
    h("header", {}, h("h2", { id: "go-on", class: "grow" }, "Let it go on"), h("button", { class: "quiet", type: "button", "aria-label": "Close", onclick: () => box.close() }, "✕")),
    h("div", { class: "body" },
      h("p", {}, `It has ${count(crawl.pages)} pages and stopped: ${crawl.why || crawl.state}.`),
      h("label", {}, "Stop after this many pages in all", pages),
      h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: doing(async () => {
        await post(crawlPath(crawl.id, "/run"), { pages: Number(pages.value) });
        box.close();
        say("it is being started; that takes a few seconds");
        setTimeout(refresh, 2500);
      }) }, "Go on"))));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}
