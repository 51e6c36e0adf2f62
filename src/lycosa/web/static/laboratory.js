// The laboratory: reports of comparisons, and evolutions, also while they run.

import { get, save } from "./api.js";
import { chart } from "./charts.js";
import { ago, count, doing, empty, h, put } from "./dom.js";

const EVERY = 3000;

export async function laboratoryView(main, chosen = "") {
  const { reports } = await get("/api/lab");
  const detail = h("div", { class: "stack" });
  put(main, h("div", {}, h("h1", {}, "Laboratory"), h("p", { class: "muted" }, "Comparisons of strategies and evolutions, from lycosa compare and lycosa evolve.")),
    reports.length ? h("div", { class: "topics-view" }, h("section", { class: "card" }, h("h2", {}, "Reports"), h("ul", { class: "tree" }, reports.map((report) => h("li", {}, h("a", { class: `topic${report.id === chosen ? " chosen" : ""}`, href: `#/lab/${encodeURIComponent(report.id)}` }, h("span", { class: "name" }, report.id.replaceAll("~", "/")), h("span", { class: "count" }, `${report.kind}, ${ago(report.changed_at)}`)))))), detail)
      : empty("No report here", "Run lycosa compare WORLD -o DIR or lycosa evolve WORLD -o DIR in a folder that this dashboard shows, and open it here."));
  const first = chosen || reports[0]?.id;
  if (!first) return undefined;
  let last = 0;
  const show = async () => {
    const report = await get(`/api/lab/${encodeURIComponent(first)}`);
    if (report.changed_at === last) return;
    last = report.changed_at;
    put(detail, report.kind === "evolution" ? evolution(report) : null,
      h("section", { class: "card stack" }, h("div", { class: "row between" }, h("h2", {}, report.id.replaceAll("~", "/")), report.kind === "comparison" ? h("button", { type: "button", class: "small", onclick: doing(() => save(`/api/lab/${encodeURIComponent(first)}/page`, { name: `${first}.html` })) }, "Save the whole report") : null),
        report.pictures.length ? h("div", { class: "half" }, report.pictures.map((name) => h("figure", { class: "picture" }, h("img", { src: `/api/lab/${encodeURIComponent(first)}/pictures/${encodeURIComponent(name)}?at=${Math.round(report.changed_at)}`, alt: name.replace(".png", "").replaceAll("_", " ") }), h("figcaption", { class: "hint" }, name.replace(".png", "").replaceAll("_", " "))))) : h("p", { class: "muted" }, "No pictures yet; they are drawn when it ends.")));
  };
  await show();
  const timer = setInterval(() => show().catch(() => {}), EVERY);
  return () => clearInterval(timer);
}

function evolution(report) {
  const rows = report.history.map((row) => [row.generation, row.best, row.mean]);
  const latest = report.history.at(-1);
  return h("section", { class: "card stack" }, h("h2", {}, "Fitness by generation"),
    rows.length > 1 ? chart(["generation", "best", "mean"], rows) : h("p", { class: "muted" }, "The first generations are being bred."),
    latest ? h("p", { class: "hint" }, `Generation ${count(latest.generation)}: best ${latest.best.toFixed(4)}, mean ${latest.mean.toFixed(4)}.`) : null,
    report.best ? h("details", {}, h("summary", {}, "The fittest strategy"), h("pre", { class: "text mono", tabindex: "0" }, report.best)) : null);
}
