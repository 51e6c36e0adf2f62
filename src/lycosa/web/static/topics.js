// The topic book: the tree by drag and drop or keyboard, good marks, examples, where a page belongs, training.

import { get, post } from "./api.js";
import { classifier } from "./classify.js";
import { count, doing, empty, h, outside, put, say } from "./dom.js";
import { neighbours } from "./neighbours.js";
import { judgeCard } from "./topic_judge.js";

export async function topicsView(main, first = "") {
  let book = await get("/api/topics");
  let chosen = first || book.topics.find((topic) => topic.is_good)?.path || book.topics[0]?.path || "";
  let dragged = null;
  const tree = h("div");
  const detail = h("div", { class: "stack" });
  const judge = h("div");
  const name = h("input", { type: "text", placeholder: "Recreation/Cycling", "aria-label": "Path of a new topic", name: "topic", class: "grow" });

  async function edit(body, words) {
    book = await post("/api/topics", body);
    if (words) say(words);
    show();
  }

  /** The tree as it is now; whoever walks it by keyboard stays where they are. */
  function show() {
    const focused = tree.contains(document.activeElement) ? document.activeElement.dataset.path : null;
    put(tree, book.topics.length ? h("ul", { class: "tree", role: "tree", "aria-label": "Topics" }, branch("")) : empty("No topic yet", "A topic is a place in a tree with some pages as examples. Add one, give it examples, train, and crawl for it."));
    if (focused !== null) [...tree.querySelectorAll(".topic")].find((each) => each.dataset.path === focused)?.focus();
    showJudge();
  }

  const childrenOf = (path) => book.topics.filter((topic) => topic.path.includes("/") ? topic.path.slice(0, topic.path.lastIndexOf("/")) === path : path === "");

  function branch(path) {
    return childrenOf(path).map((topic) => {
      const below = branch(topic.path);
      return h("li", { role: "none" }, node(topic), below.length ? h("ul", { role: "group" }, below) : null);
    });
  }

  function node(topic) {
    const button = h("button", {
      type: "button", role: "treeitem", draggable: "true", class: `topic${topic.path === chosen ? " chosen" : ""}${topic.is_good ? " is-good" : ""}`, "data-path": topic.path, "aria-selected": String(topic.path === chosen),
      title: topic.description || topic.path, onclick: () => choose(topic.path), onkeydown: (event) => onKey(event, topic),
    }, h("span", { class: "star", "aria-hidden": "true" }, topic.is_good ? "★" : "☆"), h("span", { class: "name" }, topic.path.split("/").pop()), topic.is_good ? h("span", { class: "hidden" }, "good") : null, h("span", { class: "count" }, count(topic.examples)));
    button.addEventListener("dragstart", (event) => { dragged = { topic: topic.path }; event.dataTransfer.setData("text/plain", topic.path); event.dataTransfer.effectAllowed = "move"; });
    dropTarget(button, topic.path);
    return button;
  }

  function dropTarget(element, path) {
    element.addEventListener("dragover", (event) => { if (dragged && dragged.topic !== path) { event.preventDefault(); element.classList.add("over"); } });
    element.addEventListener("dragleave", () => element.classList.remove("over"));
    element.addEventListener("drop", async (event) => {
      event.preventDefault();
      element.classList.remove("over");
      const what = dragged;
      dragged = null;
      if (!what) return;
      try {
        await (what.topic ? edit({ do: "move", topic: what.topic, to: path }, `${what.topic} is under ${path || "the top"} now`) : moveExample(what.example, what.from, path));
      } catch (error) {
        say(error.message, true);
      }
    });
  }

  async function moveExample(example, from, to) {
    book = await post("/api/topics/examples", { do: "move", ids: [example], away_from: from, to });
    say(book.version ? `moved to ${to}; judge ${book.version} includes it` : `moved to ${to}; train again to include it`);
    show();
    await choose(chosen);
  }

  const onKey = doingKey({
    g: (topic) => edit({ do: topic.is_good ? "plain" : "good", topic: topic.path }, topic.is_good ? "no longer good" : "marked good"),
    m: (topic) => askMove(topic.path),
    ArrowDown: (_, event) => step(event, 1), ArrowUp: (_, event) => step(event, -1),
  });

  function step(event, by) {
    const all = [...tree.querySelectorAll(".topic")];
    all[all.indexOf(event.currentTarget) + by]?.focus();
  }

  function askMove(path) {
    const to = h("select", { "aria-label": "Move under" }, h("option", { value: "" }, "(the top)"), book.topics.filter((topic) => topic.path !== path && !topic.path.startsWith(`${path}/`)).map((topic) => h("option", { value: topic.path }, topic.path)));
    ask(`Move ${path} under`, to, () => edit({ do: "move", topic: path, to: to.value }, "moved"));
  }

  function ask(title, field, action) {
    const box = h("dialog", { "aria-label": title }, h("header", {}, h("h2", { class: "grow" }, title)), h("div", { class: "body" }, field, h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: doing(async () => { await action(); box.close(); }) }, "Do it"), h("button", { type: "button", onclick: () => box.close() }, "Cancel"))));
    box.addEventListener("close", () => box.remove());
    document.body.append(box);
    box.showModal();
  }

  async function choose(path) {
    chosen = path;
    tree.querySelectorAll(".topic").forEach((each) => { each.classList.toggle("chosen", each.dataset.path === path); each.setAttribute("aria-selected", String(each.dataset.path === path)); });
    const topic = book.topics.find((each) => each.path === path);
    if (!topic) { put(detail); return; }
    const { examples } = await get("/api/topics/examples", { topic: path, count: 200 });
    const urls = h("textarea", { rows: 2, placeholder: "https://…", "aria-label": "URLs of new examples" });
    put(detail, h("section", { class: "card stack" },
      h("div", { class: "row between" }, h("h2", {}, path), h("div", { class: "row" },
        h("button", { type: "button", class: "small", "aria-pressed": String(topic.is_good), onclick: doing(() => edit({ do: topic.is_good ? "plain" : "good", topic: path }, topic.is_good ? "no longer good" : "marked good").then(() => choose(path))) }, topic.is_good ? "★ Good" : "☆ Mark good"),
        h("button", { type: "button", class: "small", onclick: () => askMove(path) }, "Move…"),
        h("button", { type: "button", class: "small", onclick: () => { const to = h("input", { type: "text", value: path.split("/").pop(), "aria-label": "New name" }); ask(`Rename ${path}`, to, () => edit({ do: "rename", topic: path, to: to.value }, "renamed")); } }, "Rename…"),
        h("button", { type: "button", class: "small danger", onclick: () => ask(`Remove ${path} with what is below it?`, h("p", {}, `${count(examples.length)} examples are under it; those under no other topic are removed, too.`), async () => { await edit({ do: "remove", topic: path }, "removed"); put(detail); }) }, "Remove…"))),
      topic.description ? h("p", { class: "muted" }, topic.description) : null,
      h("h3", {}, `Examples (${count(examples.length)}${examples.length === 200 ? " or more" : ""})`),
      examples.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Page"), h("th", { class: "number wide-only" }, "Words"), h("th", {}, "Do"))), h("tbody", {}, examples.map((example) => exampleRow(example, path))))) : h("p", { class: "muted" }, "None yet. Drag one here, or give some addresses; ten or more teach a topic well."),
      h("div", { class: "stack" }, h("h3", {}, "Add examples"), urls, h("div", { class: "row" }, h("button", { type: "button", onclick: doing(async () => { book = await post("/api/topics/examples/add", { topic: path, urls: urls.value }); say(book.said.join(" ") || "added"); show(); await choose(path); }) }, "Fetch and add")))),
    proposals(path), surroundings());
  }

  function exampleRow(example, path) {
    const from = example.topics.includes(path) ? path : example.topics[0];
    const to = h("select", { "aria-label": `Move ${example.title || example.source} to`, onchange: () => to.value && moveExample(example.id, from, to.value).catch((error) => say(error.message, true)) }, h("option", { value: "" }, "move to…"), book.topics.filter((topic) => topic.path !== from).map((topic) => h("option", { value: topic.path }, topic.path)));
    const row = h("tr", { draggable: "true", class: "example", "data-example": example.id },
      h("td", {}, h("span", {}, example.title || example.source), h("span", { class: "url" }, /^https?:/.test(example.source) ? outside(example.source) : example.source), from !== path ? h("span", { class: "chip plain" }, from) : null), h("td", { class: "number wide-only" }, count(example.words)),
      h("td", { class: "nowrap" }, to, h("button", { type: "button", class: "small quiet danger", "aria-label": `Remove ${example.title || example.source}`, onclick: doing(async () => { book = await post("/api/topics/examples", { do: "remove", ids: [example.id], away_from: from }); say("removed"); show(); await choose(path); }) }, "✕")));
    row.addEventListener("dragstart", (event) => { dragged = { example: example.id, from }; event.dataTransfer.setData("text/plain", String(example.id)); event.dataTransfer.effectAllowed = "move"; });
    return row;
  }

  function crawlChoice(words) {
    const choice = h("select", { "aria-label": words });
    get("/api/crawls").then((found) => put(choice, found.crawls.map((each) => h("option", { value: each.id }, each.title ? `${each.id}: ${each.title.slice(0, 40)}` : each.id)))).catch(() => {});
    return choice;
  }

  /** Pages to accept or to refuse; those that were refused are not proposed again. */
  function proposals(path) {
    const list = h("div");
    const crawl = crawlChoice("Crawl to look in");
    const propose = async () => {
      put(list, h("p", { class: "muted" }, "Looking…"));
      const { pages } = await get("/api/topics/further", { topic: path, crawl: crawl.value });
      const open = pages.filter((page) => !refused(path).includes(page.url));
      put(list, open.length ? h("table", {}, h("tbody", {}, open.map((page) => proposal(page, path)))) : h("p", { class: "muted" }, "None: the crawl has no page near the examples that shares their words."));
    };
    return h("section", { class: "card stack" }, h("h2", {}, "Further examples"), h("p", { class: "hint" }, "Pages of a crawl near this topic's examples that share its words."), h("div", { class: "row" }, crawl, h("button", { type: "button", onclick: doing(propose) }, "Propose")), list);
  }

  function proposal(page, path) {
    const row = h("tr", {}, h("td", {}, page.title || "(no title)", h("span", { class: "url" }, outside(page.url))), h("td", {}, h("span", { class: "hint" }, page.words.slice(0, 5).join(" "))), h("td", { class: "nowrap" },
      h("button", { type: "button", class: "small", onclick: doing(async () => { book = await post("/api/topics/examples/add", { topic: path, urls: page.url }); row.remove(); show(); say("added"); }) }, "Accept"),
      h("button", { type: "button", class: "small quiet", onclick: () => { refuse(path, page.url); row.remove(); } }, "Refuse")));
    return row;
  }

  /** What a crawl for topics of this book has met beside them. */
  function surroundings() {
    const list = h("div", { class: "stack" });
    const crawl = crawlChoice("Crawl whose surroundings are looked at");
    return h("section", { class: "card stack" }, h("h2", {}, "Neighbouring topics"), h("p", { class: "hint" }, "What else the relevant pages of a crawl link to, and whether the focus should be widened."), h("div", { class: "row" }, crawl, h("button", { type: "button", onclick: doing(async () => {
      put(list, await neighbours(crawl.value, async () => { book = await get("/api/topics"); show(); }) ?? h("p", { class: "muted" }, "Nothing to tell: this crawl is not for topics of the book, or it has too few pages."));
    }) }, "Look around")), list);
  }

  function showJudge() {
    put(judge, judgeCard(book, (trained) => { book = trained; show(); }));
  }

  put(main, h("div", {}, h("h1", {}, "Topics"), h("p", { class: "muted", title: book.book }, `in the book ${book.book.split("/").pop()}`)),
    h("div", { class: "topics-view" },
      h("div", { class: "stack" }, h("section", { class: "card stack" }, h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); edit({ do: "add", topic: name.value.trim() }, "added").then(() => choose(name.value.trim())).then(() => { name.value = ""; }).catch((error) => say(error.message, true)); } }, name, h("button", { type: "submit" }, "Add")), tree, h("p", { class: "hint" }, h("kbd", {}, "g"), " marks good, ", h("kbd", {}, "m"), " moves, arrows walk. Or drag.")), classifier({ mark: (topic) => edit({ do: "good", topic }, `${topic} is marked good`), accepted: async (now) => { book = now; show(); await choose(chosen); } })),
      h("div", { class: "stack" }, detail, judge)));
  show();
  if (chosen) await choose(chosen);
}

const REFUSED = 500; // kept for each topic

function refused(path) {
  try {
    return JSON.parse(localStorage.getItem(`refused ${path}`) ?? "[]");
  } catch {
    return [];
  }
}

function refuse(path, url) {
  try {
    localStorage.setItem(`refused ${path}`, JSON.stringify([...refused(path), url].slice(-REFUSED)));
  } catch {
    // storage is not allowed: it may be proposed again
  }
}

/** Handlers by key, whose errors are said. */
function doingKey(keys) {
  return (event, topic) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    Promise.resolve(action(topic, event)).catch((error) => say(error.message, true));
  };
}
