// The card of a page: its text with the words that decided, its way from the seed, near-duplicates; useful or not.

import { crawlPath, get, post } from "./api.js";
import { bytes, count, day, doing, h, outside, put, say, share } from "./dom.js";

const SAID = { relevant: "you said: useful", irrelevant: "you said: not useful", withdrawn: "", skipped: "" };

export async function openCard(id, number, changed = () => {}) {
  const box = h("dialog", { "aria-labelledby": "card-title", class: "page-card" }, h("div", { class: "body" }, h("p", { class: "loading" }, "Loading…")));
  const cameFrom = document.activeElement;
  box.addEventListener("close", () => { box.remove(); cameFrom?.focus?.(); });
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  const show = async () => {
    let page;
    try {
      page = await get(crawlPath(id, `/pages/${number}`));
    } catch (error) {
      put(box, h("div", { class: "body" }, h("div", { class: "notice bad" }, error.message)));
      return;
    }
    put(box, head(page, box), content(page, id, { show, changed, open: (other) => { box.close(); openCard(id, other, changed); } }));
  };
  await show();
}

function head(page, box) {
  return h("header", {},
    h("div", { class: "grow" }, h("h2", { id: "card-title" }, page.title || "(no title)"), h("div", { class: "muted" }, outside(page.url))),
    h("button", { class: "quiet", type: "button", "aria-label": "Close", onclick: () => box.close() }, "✕"));
}

function content(page, id, { show, changed, open }) {
  const answer = (said) => doing(async () => {
    const now = await post(crawlPath(id, `/pages/${page.number}/answer`), { answer: said });
    say(now.learns === "crawl" ? "kept; the running crawl learns from it within seconds" : "kept; the judge is learning from it");
    await show();
    changed();
  });
  const stands = page.answer === "relevant" || page.answer === "irrelevant";
  return h("div", { class: "body" },
    h("div", { class: "row between" },
      h("div", { class: "row" }, share(page.relevance, page.is_relevant, 3), h("span", { class: page.is_relevant ? "good" : "muted" }, page.is_relevant ? "relevant" : "not relevant"), stands ? h("span", { class: "chip plain" }, SAID[page.answer]) : null),
      h("div", { class: "row" },
        h("button", { type: "button", "aria-pressed": String(page.answer === "relevant"), onclick: answer("relevant") }, "✓ Useful"),
        h("button", { type: "button", "aria-pressed": String(page.answer === "irrelevant"), onclick: answer("irrelevant") }, "✗ Not useful"),
        stands ? h("button", { type: "button", class: "quiet", onclick: answer("withdrawn") }, "Take back") : null)),
    section("The words that decided", page.terms.length ? h("div", { class: "chips" }, page.terms.map((term) => h("span", { class: `chip${term.weight < 0 ? " against" : ""}` }, `${term.word} ${term.weight >= 0 ? "+" : "−"}${Math.abs(term.weight).toFixed(2)}`))) : h("p", { class: "muted" }, "None are stored for this page.")),
    section("Its own text", page.no_text ? h("p", { class: "muted" }, page.no_text) : h("div", { class: "text", tabindex: "0" }, page.text.map(([piece, weight]) => (weight ? h("mark", { class: weight < 0 ? "against" : null }, piece) : piece)), page.is_text_cut ? h("span", { class: "faint" }, " … (cut)") : null)),
    section("How the crawl got there", h("ol", { class: "path" }, page.path.map((step, place) => h("li", {},
      step.number && step.number !== page.number ? h("button", { type: "button", class: "title small quiet", onclick: () => open(step.number) }, step.title || step.url) : h("span", {}, step.title || step.url),
      h("span", { class: "muted" }, place === 0 ? " · seed" : step.anchor ? ` · by the link “${step.anchor}”` : ""))))),
    page.duplicates.length || page.duplicate_of ? section("Near-duplicates", h("ul", { class: "path" }, page.duplicate_of ? h("li", {}, "the same text as ", outside(page.duplicate_of)) : null, page.duplicates.map((twin) => h("li", {}, h("button", { type: "button", class: "title small quiet", onclick: () => open(twin.number) }, twin.title || twin.url), h("span", { class: "muted" }, ` ${twin.url}`))))) : null,
    section("Judged, version after version", judged(page)),
    h("dl", { class: "facts" },
      h("dt", {}, "Fetched"), h("dd", {}, `${day(page.fetched_at)} as page ${count(page.number)}, ${page.distance} link${page.distance === 1 ? "" : "s"} from a seed`),
      h("dt", {}, "Size"), h("dd", {}, `${bytes(page.bytes)}, ${count(page.words)} words, ${page.language || "language unclear"}`),
      page.cited_by.length ? [h("dt", {}, "Cited by"), h("dd", {}, page.cited_by.map((source) => h("div", {}, outside(source.url), source.anchors ? h("span", { class: "muted" }, ` “${source.anchors.replaceAll("\n", "”, “")}”`) : null)))] : null));
}

const section = (title, ...inside) => h("section", {}, h("h3", {}, title), ...inside);

function judged(page) {
  const now = page.own_relevance ?? page.relevance ?? 0;
  const lines = page.versions.map((earlier) => h("li", {}, share(earlier.relevance, earlier.is_relevant, 3), h("span", { class: "muted" }, ` until the crawl had ${count(earlier.until_pages)} pages`)));
  lines.push(h("li", {}, share(now, page.is_relevant, 3), h("span", { class: "muted" }, ` by ${page.judge || "nobody"}, as of now`)));
  if (page.guide_relevance !== null) lines.push(h("li", {}, `the crawl is guided by ${page.guide_relevance.toFixed(3)}, without the formula's NOT`));
  for (const said of page.answers) lines.push(h("li", {}, `${day(said.at)}: a person said “${said.answer}”${said.after_pages === null ? "" : `, taken over after ${count(said.after_pages)} pages`}`));
  const scores = Object.entries(page.scores).slice(0, 6);
  return [h("ul", { class: "path" }, lines), scores.length ? h("div", { class: "chips" }, scores.map(([topic, value]) => h("span", { class: "chip plain" }, `${topic} ${value.toFixed(2)}`))) : null];
}
