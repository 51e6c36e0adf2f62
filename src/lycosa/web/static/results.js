// What was found: by words, relevance, host, language and date; read, and saved as a file.

import { crawlPath, get, save } from "./api.js";
import { count, doing, empty, h, put } from "./dom.js";
import { openCard } from "./card.js";
import { table } from "./monitor.js";

const SIZE = 50;

export async function resultsTab(body, { crawl }) {
  const facets = await get(crawlPath(crawl.id, "/facets"));
  const any = (name) => h("option", { value: "" }, name);
  const field = {
    words: h("input", { type: "search", placeholder: "words, \"a phrase\", -without", name: "words" }),
    host: h("select", { name: "host" }, any("any site"), facets.sites.map((site) => h("option", { value: site.name }, `${site.name} (${site.relevant}/${site.pages})`))),
    language: h("select", { name: "language" }, any("any language"), facets.languages.filter((row) => row.language).map((row) => h("option", { value: row.language }, `${row.language} (${count(row.pages)})`))),
    min_relevance: h("input", { type: "number", min: 0, max: 1, step: 0.05, placeholder: "0", name: "min_relevance" }),
    order: h("select", { name: "order" }, [["match", "best match first"], ["relevance", "most relevant first"], ["newest", "newest first"], ["oldest", "oldest first"], ["title", "by title"], ["host", "by host"]].map(([value, name]) => h("option", { value }, name))),
    since: h("input", { type: "date", name: "since" }),
    until: h("input", { type: "date", name: "until" }),
    is_relevant: h("input", { type: "checkbox", checked: true, name: "is_relevant" }),
  };
  const list = h("div", { class: "scroll" });
  const progress = h("div", { "aria-live": "polite" });
  const total = h("h2", { "aria-live": "polite" });
  const more = h("div", { class: "row" });
  let offset = 0;
  const seconds = (input, plus = 0) => (input.value ? new Date(`${input.value}T00:00`).getTime() / 1000 + plus : "");
  const query = () => ({ words: field.words.value.trim(), host: field.host.value, language: field.language.value, min_relevance: field.min_relevance.value, is_relevant: field.is_relevant.checked, order: field.order.value, since: seconds(field.since), until: seconds(field.until, 86_400) });

  let asked = ""; // the words that are being indexed for, and how many pages there were
  let target = 0;
  let later = 0;
  let latest = 0;
  const trouble = (error) => put(progress, h("p", { class: "warn", role: "alert" }, error.message));

  async function load() {
    clearTimeout(later);
    const turn = (latest += 1);
    const found = await get(crawlPath(crawl.id, "/results"), { ...query(), offset, count: SIZE });
    if (turn !== latest) return; // something else has been asked meanwhile
    total.textContent = `${count(found.total)} page${found.total === 1 ? "" : "s"}`;
    showProgress(found.search);
    put(list, found.pages.length ? table(found.pages, (number) => openCard(crawl.id, number, () => load())) : empty("No page like this", "Loosen a filter: fewer words, any site, or pages that are not relevant, too."));
    const step = (name, to) => h("button", { type: "button", disabled: to < 0 || to >= found.total, onclick: doing(() => { offset = to; return load(); }) }, name);
    put(more, found.total > SIZE ? [step("Previous", offset - SIZE), h("span", { class: "muted" }, `${count(offset + 1)}–${count(offset + found.pages.length)}`), step("Next", offset + SIZE)] : null);
  }

  /** The first search indexes the pages; what is found by then is shown, and more follows. */
  function showProgress(search) {
    if (!search) return put(progress);
    if (asked !== field.words.value) [asked, target] = [field.words.value, search.pages];
    const isBehind = search.indexed < target;
    if (isBehind && list.isConnected) later = setTimeout(() => load().catch(trouble), 1500);
    return put(progress, isBehind ? h("p", { class: "hint" }, `${count(search.indexed)} of ${count(target)} pages are indexed so far; more follow.`) : null, search.has_all_words ? null : h("p", { class: "warn" }, "No page has all of these words; these have some."));
  }

  const again = () => { offset = 0; load().catch(trouble); };
  let timer = 0;
  field.words.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(again, 250); });
  Object.values(field).forEach((input) => input.addEventListener("change", again));
  const file = (form) => h("button", { type: "button", class: "small", onclick: doing(() => save(crawlPath(crawl.id, "/export"), { query: { ...query(), form }, name: `${crawl.id}-pages.${form}` })) }, `Save as ${form === "csv" ? "CSV" : "JSON lines"}`);
  put(body,
    h("section", { class: "card stack", "aria-label": "Filters" }, h("div", { class: "filters" },
      h("label", {}, "Words", field.words), h("label", {}, "Site", field.host), h("label", {}, "Language", field.language), h("label", {}, "Relevance at least", field.min_relevance), h("label", {}, "Order", field.order)),
      h("div", { class: "row" }, h("label", { class: "line" }, field.is_relevant, "relevant pages only"), h("label", { class: "line" }, "fetched from", field.since), h("label", { class: "line" }, "to", field.until))),
    h("section", { class: "card" }, h("div", { class: "row between" }, total, h("div", { class: "row" }, file("csv"), file("jsonl"))), progress, list, more));
  await load();
}
