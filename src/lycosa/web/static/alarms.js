// Alarms: thresholds that the crawl itself watches, and what it has raised so far.

import { crawlPath, get, post } from "./api.js";
import { count, day, doing, empty, h, put, say } from "./dom.js";

const NAMES = { min_speed: "Pages a minute, at least", min_relevance: "Mean relevance, at least", max_drift: "Drift, at most", max_errors: "Share of failures, at most", min_disk: "Gigabytes free, at least", on_stall: "When it stalls", pages: "Measured over pages", minutes: "Measured over minutes" };

export async function alarmsTab(body, { crawl, listen, unlisten }) {
  const raised = h("div");
  const form = h("form", { class: "stack", onsubmit: (event) => event.preventDefault() });
  const fields = {};

  function show(found) {
    const values = Object.fromEntries(found.thresholds.map(({ name, value }) => [name, value]));
    const plain = (text) => text.replaceAll("`pages`", count(values.pages)).replaceAll("`minutes`", `${values.minutes} minutes`).replaceAll("`", "");
    put(form, found.thresholds.map(({ name, value, text }) => {
      const isFlag = typeof value === "boolean";
      fields[name] = isFlag ? h("input", { type: "checkbox", checked: value, id: `alarm-${name}` }) : h("input", { type: "number", step: "any", min: 0, value, id: `alarm-${name}` });
      return h("div", { class: "setting alarm" }, h("label", { for: `alarm-${name}` }, NAMES[name] ?? name, fields[name]), h("p", {}, plain(text)));
    }),
    h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: doing(save) }, "Watch these")),
    found.shards ? h("p", { class: "hint" }, "Each shard of the cluster watches these thresholds for itself.") : null,
    h("p", { class: "hint" }, found.tells.webhook || found.tells.command ? `Alarms are also sent to ${[found.tells.webhook, found.tells.command].filter(Boolean).join(" and ")}.` : "To be told elsewhere, too, start the crawl with --set alarms.webhook=URL or --set alarms.command=PROGRAM."));
    showRaised(found);
  }

  function showRaised(found) {
    put(raised, found.raised.length ? h("ol", { class: "events" }, found.raised.map((event) => h("li", {}, h("time", { class: "muted" }, day(event.at)), h("span", { class: "kind" }, event.kind), h("span", { class: "message" }, event.message)))) : empty("No alarm so far", "Set a threshold, and the crawl raises an alarm when it is crossed: here, among its events, and as a mark on the monitor."));
  }

  async function save() {
    const values = Object.fromEntries(Object.entries(fields).map(([name, input]) => [name, input.type === "checkbox" ? input.checked : Number(input.value)]));
    show(await post(crawlPath(crawl.id, "/alarms"), values));
    say(crawl.state === "running" || crawl.state === "paused" ? "the crawl watches them from now on" : "kept; the crawl watches them when it goes on");
  }

  put(body, h("div", { class: "half" }, h("section", { class: "card" }, h("h2", {}, "Thresholds"), h("p", { class: "hint" }, `0 turns an alarm off. The crawl has ${count(crawl.pages)} pages.`), form), h("section", { class: "card" }, h("h2", {}, "Raised"), raised)));
  show(await get(crawlPath(crawl.id, "/alarms")));
  let last = -1;
  const listener = async (figures) => {
    if (figures.last_event === last) return;
    last = figures.last_event;
    showRaised(await get(crawlPath(crawl.id, "/alarms")));
  };
  listen(listener);
  return () => unlisten(listener);
}
