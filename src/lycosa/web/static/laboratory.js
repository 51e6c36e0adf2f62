// The laboratory: reports of comparisons, and evolutions, also while they run.

import { get, save } from "./api.js";
import { chart } from "./charts.js";
import { ago, count, doing, empty, h, put } from "./dom.js";

const EVERY = 3000;

export async function laboratoryView(main, chosen = "") {
  const detail = h("div", { class: "stack" });
  const body = h("div");
  put(main, h("div", {}, h("h1", {}, "Laboratory"), h("p", { class: "muted" }, "Comparisons of strategies and evolutions, from lycosa compare and lycosa evolve.")), body);
  let [listed, shown] = ["", ""];

  /** Reports appear while this is open, and evolutions grow. */
  async function show() {
    const { reports } = await get("/api/lab");
    const first = reports.find((report) => report.id === chosen) ?? reports[0];
    const names = reports.map((report) => report.id).join("\n");
    if (names !== listed || !names) {
      listed = names;
      put(body, reports.length ? h("div", { class: "topics-view" }, list(reports, first.id), detail)
        : empty("No report here", "Run lycosa compare WORLD -o DIR or lycosa evolve WORLD -o DIR in a folder that this dashboard shows, and open it here, also while it runs."));
    }
    if (!first || shown === `${first.id} ${first.changed_at}`) return;
    const report = await get(`/api/lab/${encodeURIComponent(first.id)}`);
    shown = `${first.id} ${first.changed_at}`;
    put(detail, report.kind === "evolution" ? evolution(report) : null, pictures(report));
  }

  await show();
  const timer = setInterval(() => show().catch(() => {}), EVERY);
  return () => clearInterval(timer);
}

function list(reports, chosen) {
  return h("section", { class: "card" }, h("h2", {}, "Reports"), h("ul", { class: "tree" }, reports.map((report) => h("li", {}, h("a", { class: `topic${report.id === chosen ? " chosen" : ""}`, "aria-current": report.id === chosen ? "true" : null, href: `#/lab/${encodeURIComponent(report.id)}` }, h("span", { class: "name" }, report.id.replaceAll("~", "/")), h("span", { class: "count" }, `${report.kind}, ${ago(report.changed_at)}`))))));
}

function pictures(report) {
  const place = `/api/lab/${encodeURIComponent(report.id)}`;
  const words = (name) => name.replace(".png", "").replaceAll("_", " ");
  return h("section", { class: "card stack" }, h("div", { class: "row between" }, h("h2", {}, report.id.replaceAll("~", "/")),
    report.kind === "comparison" ? h("div", { class: "row" }, h("a", { class: "button small", target: "_blank", rel: "noopener", href: `${place}/page` }, "Open the whole report"), h("button", { type: "button", class: "small", onclick: doing(() => save(`${place}/page`, { query: { save: true }, name: `${report.id}.html` })) }, "Save it")) : null),
  report.pictures.length ? h("div", { class: "half" }, report.pictures.map((name) => h("figure", { class: "picture" }, h("img", { src: `${place}/pictures/${encodeURIComponent(name)}?at=${Math.round(report.changed_at)}`, alt: words(name) }), h("figcaption", { class: "hint" }, words(name))))) : h("p", { class: "muted" }, "No pictures yet; they are drawn when it ends."));
}

function evolution(report) {
  const rows = report.history.map((row) => [row.generation, row.best, row.mean]);
  const latest = report.history.at(-1);
  return h("section", { class: "card stack" }, h("h2", {}, "Fitness by generation"),
    rows.length > 1 ? chart(["generation", "best", "mean"], rows) : h("p", { class: "muted" }, "The first generations are being bred."),
    latest ? h("p", { class: "hint" }, `Generation ${count(latest.generation)}: best ${latest.best.toFixed(4)}, mean ${latest.mean.toFixed(4)}.`) : null,
    report.best ? h("details", {}, h("summary", {}, "The fittest strategy"), h("pre", { class: "text mono", tabindex: "0" }, report.best)) : null);
}
