// The figures beside the dots: speed, hosts, errors, the queue by score, the forecast, what is sure.

import { crawlPath, get } from "./api.js";
import { bars, histogram } from "./charts.js";
import { bytes, count, h, percent, put } from "./dom.js";

const QUEUE_EVERY = 15_000;

export function figuresPanel(side, crawl) {
  const main = h("dl", { class: "figures" });
  const forecast = h("div");
  const queue = h("div", {}, h("p", { class: "muted" }, "…"));
  const errors = h("div");
  const notice = h("div");
  put(side, notice, h("section", { class: "card", "aria-label": "Figures" }, main), h("section", { class: "card" }, h("h2", {}, "What to expect"), forecast), h("section", { class: "card" }, h("h2", {}, "Queue by score"), queue), h("section", { class: "card" }, h("h2", {}, "What became of the requests"), errors));
  const showQueue = async () => {
    try {
      const found = await get(crawlPath(crawl.id, "/queue/scores"));
      put(queue, found.waiting ? [histogram(found.edges, found.counts, `${count(found.waiting)} waiting links by score`), h("p", { class: "hint" }, `${count(found.waiting)} links wait; the further right, the sooner.`)] : h("p", { class: "muted" }, "Nothing waits."));
    } catch {
      // shown again in a moment
    }
  };
  let timer = 0;
  const figure = (name, value, small = "") => h("div", {}, h("dt", {}, name), h("dd", {}, value, small ? h("small", {}, ` ${small}`) : null));
  return {
    version: -1,
    /** The queue is read only now: of a large crawl that takes a second. */
    start: () => { showQueue(); timer = setInterval(showQueue, QUEUE_EVERY); },
    end: () => clearInterval(timer),
    show(now) {
      put(notice, now.stalled ? h("div", { class: "notice" }, h("strong", {}, "Nothing is being fetched. "), now.stalled) : null, now.is_paused ? h("div", { class: "notice" }, "Paused: what was under way is finished, nothing more is asked for.") : null);
      put(main,
        figure("Pages", count(now.pages), `of ${count(crawl.budget)}`), figure("Relevant", count(now.relevant), percent(now.relevant / Math.max(1, now.pages))),
        figure("Harvest, last 1,000", percent(now.harvest_recent)), figure("Mean relevance", now.mean_relevance.toFixed(3), "last 1,000"),
        figure("Pages a second", now.is_running ? now.speed.toFixed(1) : "–"), figure("Downloaded", bytes(now.bytes)),
        figure("Hosts", count(now.hosts), now.is_running ? `${count(now.hosts_ready)} ready` : ""), figure("Cooling", count(now.hosts_cooling), now.hosts_set_aside ? `${count(now.hosts_set_aside)} set aside` : ""),
        figure("Links waiting", count(now.waiting)), figure("Under way", now.is_running ? count(now.in_flight) : "–"));
      put(forecast, outlook(now.forecast, now.shards), now.certainty?.words ? h("p", { class: "hint" }, `Sure of it? ${now.certainty.words}.`) : null, against(now.confirmed));
      put(errors, now.outcomes.length ? bars(now.outcomes.slice(0, 8).map((row) => ({ name: row.reason && row.reason !== "http 200" ? `${row.kind}: ${row.reason}` : row.kind, count: row.count, isGood: row.kind === "fetched" })), { isGood: (row) => row.isGood }) : h("p", { class: "muted" }, "No request yet."));
    },
  };
}

/** What the judge says, against what people confirmed. */
function against({ confirmed, refuted, missed, rightly_left: left }) {
  const decided = confirmed + refuted + missed + left;
  if (!decided) return h("p", { class: "hint" }, "Nobody has confirmed or refused a page yet.");
  return h("p", { class: "hint" }, `People decided ${count(decided)} page${decided === 1 ? "" : "s"}: of ${count(confirmed + refuted)} that the judge calls relevant by itself they confirmed ${count(confirmed)}, and of ${count(missed + left)} others ${count(left)} are rightly left out.`);
}

function outlook(forecast, shards) {
  if (shards) return h("p", { class: "muted" }, "Each shard of a cluster expects something else of its own links, so there is no forecast for the whole.");
  if (!forecast) return h("p", { class: "muted" }, "Too early to say: a forecast needs fifty pages that were chosen by a prediction.");
  const { relevant, left } = forecast;
  return [h("p", {}, "Of the next ", count(forecast.pages), " pages about ", h("strong", {}, count(relevant.value)), " will be relevant ", h("span", { class: "muted" }, `(${count(relevant.low)}–${count(relevant.high)} in 9 of 10 cases).`)),
    left ? h("p", {}, "About ", h("strong", {}, count(left.value)), " are left in reach ", h("span", { class: "muted" }, `(${count(left.low)}–${count(left.high)}).`)) : null];
}
