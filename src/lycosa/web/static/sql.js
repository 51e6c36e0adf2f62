// Queries over the crawl's database, for reading only: examples, a table, a chart, CSV.

import { crawlPath, get, post, save } from "./api.js";
import { chart } from "./charts.js";
import { count, doing, h, put } from "./dom.js";

const KEPT = "queries";

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

export async function sqlTab(body, { crawl }) {
  const { examples } = await get(crawlPath(crawl.id, "/sql/examples"));
  const editor = h("textarea", { class: "code", rows: 6, spellcheck: "false", "aria-label": "Query", name: "sql", value: examples[0].sql });
  const answer = h("div", { class: "stack", "aria-live": "polite" });
  const choose = h("select", { "aria-label": "Saved queries and examples" });
  const options = () => put(choose, h("option", { value: "" }, "examples and saved queries…"), h("optgroup", { label: "Examples" }, examples.map((each) => h("option", { value: each.sql }, each.name))), Object.keys(kept()).length ? h("optgroup", { label: "Saved" }, Object.entries(kept()).map(([name, sql]) => h("option", { value: sql }, name))) : null);
  choose.addEventListener("change", () => { if (choose.value) { editor.value = choose.value; run(); } });
  editor.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(); });
  options();

  async function run() {
    put(answer, h("p", { class: "muted" }, "Asking…"));
    try {
      const found = await post(crawlPath(crawl.id, "/sql"), { sql: editor.value });
      put(answer, h("section", { class: "card" }, h("div", { class: "row between" }, h("h2", {}, `${count(found.rows.length)} rows${found.is_cut ? " (there are more)" : ""}`), h("span", { class: "hint" }, `${found.seconds} s`)),
        h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, found.names.map((name, at) => h("th", { class: typeof found.rows[0]?.[at] === "number" ? "number" : null }, name)))), h("tbody", {}, found.rows.slice(0, 500).map((row) => h("tr", {}, row.map((cell) => h("td", { class: typeof cell === "number" ? "number" : null }, cell === null ? h("span", { class: "faint" }, "null") : String(cell).slice(0, 600)))))))),
        found.rows.length > 500 ? h("p", { class: "hint" }, "The first 500 are shown; CSV has them all.") : null),
      found.rows.length > 1 ? h("section", { class: "card" }, h("h2", {}, "Chart"), chart(found.names, found.rows)) : null);
    } catch (error) {
      put(answer, h("div", { class: "notice bad", role: "alert" }, error.message));
    }
  }

  const keep = () => {
    const name = prompt("Name of the query");
    if (!name) return;
    localStorage.setItem(KEPT, JSON.stringify({ ...kept(), [name]: editor.value }));
    options();
  };
  put(body, h("section", { class: "card stack" }, h("div", { class: "row between" }, h("h2", {}, "Ask the database"), choose), editor,
    h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: run }, "Run"), h("button", { type: "button", onclick: doing(() => save(crawlPath(crawl.id, "/sql.csv"), { body: { sql: editor.value }, name: `${crawl.id}.csv` })) }, "Save as CSV"), h("button", { class: "quiet", type: "button", onclick: keep }, "Keep this query"), h("span", { class: "hint" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"), " runs it. Reading only; tables are explained in docs/schema.md."))), answer);
}
