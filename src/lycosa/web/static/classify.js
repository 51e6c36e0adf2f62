// Where does it belong? URLs, bookmarks or a text; each page is a candidate that can be accepted as an example.

import { post } from "./api.js";
import { count, doing, h, outside, percent, put, say } from "./dom.js";
import { dropArea } from "./drop.js";

/** `mark` marks a topic good, `accepted` is told the book as it is then. */
export function classifier({ mark, accepted }) {
  const text = h("textarea", { rows: 3, placeholder: "URLs, one on each line, or some text", "aria-label": "What to classify", name: "classify" });
  const answer = h("div", { class: "stack", "aria-live": "polite" });
  const drop = dropArea("Drop bookmarks here, or ", (words, name) => { text.value = words; say(`${name}: ${count(words.length)} characters`); });
  const ask = doing(async () => {
    put(answer, h("p", { class: "muted" }, "Fetching and judging; a page takes a second or two."));
    try {
      const found = await post("/api/topics/classify", { text: text.value });
      put(answer, found.pages.length > 1 ? overall(found.overall, mark) : null, found.pages.map((page) => candidate(page, { mark, accepted })), found.pages.length ? null : h("p", { class: "muted" }, "Nothing to judge: no page could be fetched, or none has words."));
    } catch (error) {
      put(answer, h("div", { class: "notice bad", role: "alert" }, error.message));
    }
  });
  return h("section", { class: "card stack" }, h("h2", {}, "Where does it belong?"), text, drop, h("div", { class: "row" }, h("button", { type: "button", onclick: ask }, "Classify")), answer);
}

function overall(fit, mark) {
  return h("div", { class: "understood" }, h("strong", {}, "All of them together"), h("div", { class: "chips" }, fit.leaves.slice(0, 3).map((leaf) => h("button", { type: "button", class: "chip", title: "mark this topic good", onclick: doing(() => mark(leaf.topic)) }, `☆ ${leaf.topic} ${percent(leaf.probability, 0)}`))));
}

function candidate(page, { mark, accepted }) {
  const under = h("select", { "aria-label": `Topic for ${page.title || page.url}` }, page.leaves.map((leaf) => h("option", { value: leaf.topic }, `${leaf.topic} ${percent(leaf.probability, 0)}`)));
  const isPage = /^https?:\/\//.test(page.url);
  const box = h("div", { class: "candidate stack" }, h("div", {}, h("strong", {}, page.title || (isPage ? page.url : "The text")), isPage ? h("span", { class: "url" }, outside(page.url)) : null), h("div", { class: "row" }, under,
    isPage ? h("button", { type: "button", class: "small", onclick: doing(async () => { const book = await post("/api/topics/examples/add", { topic: under.value, urls: page.url }); say(`${under.value} has one more example`); box.remove(); await accepted(book); }) }, "Accept") : null,
    h("button", { type: "button", class: "small", onclick: doing(() => mark(under.value)) }, "Mark good"), h("button", { type: "button", class: "small quiet", onclick: () => box.remove() }, "Refuse")));
  return box;
}
