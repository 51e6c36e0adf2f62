// Topics near the focus: what else relevant pages link to, the advice to widen, and who cites whom as a matrix.

import { crawlPath, get, post } from "./api.js";
import { matrix } from "./charts.js";
import { count, doing, h, percent, say, share } from "./dom.js";

/** `done` is called when a topic was marked good. */
export async function neighbours(crawl, done = () => {}) {
  const found = await get(crawlPath(crawl, "/neighbours"));
  if (!found.neighbours.length) return null;
  const widen = (topic) => doing(async () => {
    await post("/api/topics", { do: "good", topic });
    say(`${topic} is marked good: crawls that are started from now on include it`);
    await done();
  });
  return [h("p", { class: "hint" }, `Of ${count(found.pages)} pages that relevant pages link to, ${percent(found.focus, 0)} are on the topic. The others:`),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Topic"), h("th", {}, "Share there"), h("th", { class: "wide-only" }, "Share elsewhere"))), h("tbody", {}, found.neighbours.map((row) => h("tr", {}, h("td", { class: "name" }, row.topic), h("td", {}, share(row.share)), h("td", { class: "wide-only" }, share(row.share_elsewhere))))))),
    found.advice.length ? found.advice.map((advice) => h("div", { class: "notice row between" }, h("span", { class: "grow" }, advice.reason), h("button", { type: "button", class: "small", onclick: widen(advice.widen_to) }, `Mark ${advice.widen_to} good`))) : h("p", { class: "hint" }, "The focus can be told from what is around it: there is no need to widen it.")];
}

/** Who cites whom. */
export async function citations(crawl) {
  const found = await get(crawlPath(crawl, "/citations"));
  if (found.names.length < 2) return null;
  const what = found.kind === "topics" ? "topics" : "sites of relevant pages";
  return h("section", { class: "card" }, h("h2", {}, found.kind === "topics" ? "Which topics cite which" : "Which sites cite which"),
    h("p", { class: "hint" }, `Links from the ${what} at the left to those at the top, counted on the latest ${count(found.latest)} pages.${found.is_good.some(Boolean) ? " ★ is the focus." : ""}${found.outside ? ` ${count(found.outside)} more lead from or to others.` : ""}`),
    matrix(found.names.map((name, at) => (found.is_good[at] ? `★ ${name}` : name)), found.counts, { corner: "from \\ to" }));
}
