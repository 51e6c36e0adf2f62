// Review: the pages that would teach the judge most, one after another, by keyboard; and what the answers changed.

import { crawlPath, get, post } from "./api.js";
import { count, doing, empty, h, outside, plural, put, say, share } from "./dom.js";
import { openCard } from "./card.js";

const KEYS = { y: "relevant", n: "irrelevant", s: "skipped" };

export async function reviewTab(body, { crawl, listen, unlisten }) {
  let questions = [];
  let place = 0;
  const given = [];
  let before = null;
  let lately = null; // number of relevant pages at the last version
  const pending = []; // answers whose consequences are not known yet
  const lines = []; // what each answer changed, newest first
  const area = h("div", { class: "question stack" });
  const changes = h("div", { class: "question", "aria-live": "polite" });
  put(body, area, changes);

  async function load() {
    const found = await get(crawlPath(crawl.id, "/review"), { count: 10 });
    questions = found.questions;
    place = 0;
    before ??= { relevant: found.relevant, answered: found.answered };
    showChanges(found);
    show();
  }

  function showChanges(now) {
    if (!before || now.answered === before.answered) return put(changes);
    const moved = now.relevant - before.relevant;
    const words = moved ? `${plural(Math.abs(moved), "page")} ${moved > 0 ? "more" : "fewer"} relevant than before` : "no page has changed sides so far";
    return put(changes, h("div", { class: "card flat" }, h("h3", {}, "What your answers changed"), h("p", {}, `${plural(Math.max(0, now.answered - before.answered), "answer")}: `, h("strong", {}, words), ` (${count(before.relevant)} → ${count(now.relevant)} of ${count(now.pages ?? 0)} pages).`, now.is_learning ? " The judge is still learning." : ""),
      lines.length ? h("ul", { class: "path" }, lines.slice(0, 12).map((line) => h("li", {}, line))) : null));
  }

  /** Another version has judged the pages: what has changed is put down to the answers since the last one. */
  function putDown(figures) {
    const moved = figures.relevant - (lately ?? before?.relevant ?? figures.relevant);
    lately = figures.relevant;
    const titles = pending.splice(0).map(({ question, said }) => `${said === "relevant" ? "yes" : said === "irrelevant" ? "no" : "taken back"} to “${(question.title || question.url).slice(0, 60)}”`);
    const meanwhile = figures.is_running && !figures.is_paused ? ", counting what was fetched meanwhile" : "";
    const effect = moved ? `${plural(Math.abs(moved), "page")} ${moved > 0 ? "more" : "fewer"} relevant${meanwhile}` : "no page changed sides";
    if (titles.length) lines.unshift(`${titles.join(", ")}: ${effect}`);
    else if (moved && given.length) lines.unshift(`the judge has learned from it: ${effect}`);
  }

  function show() {
    const question = questions[place];
    if (!question) {
      put(area, questions.length ? h("div", { class: "card empty" }, h("h2", {}, "That was all for now"), h("p", {}, `${plural(given.length, "answer")} given. The judge learns from them; then other pages may be in doubt.`), h("button", { class: "main", type: "button", onclick: doing(load) }, "More questions")) : empty("Nothing to ask", "No page is in doubt, or all of them were asked about. Let the crawl fetch more pages and come back."));
      return;
    }
    const bar = h("i");
    bar.style.width = `${(100 * place) / questions.length}%`;
    put(area,
      h("div", { class: "row between" }, h("span", { class: "muted" }, `Question ${place + 1} of ${questions.length}`), h("span", { class: "muted" }, h("kbd", {}, "y"), " yes ", h("kbd", {}, "n"), " no ", h("kbd", {}, "s"), " skip ", h("kbd", {}, "b"), " back")),
      h("div", { class: "progress", "aria-hidden": "true" }, bar),
      h("article", { class: "card stack", "aria-live": "polite" },
        h("h2", {}, question.title || "(no title)"), h("div", { class: "muted" }, outside(question.url)),
        question.lines.length ? h("div", { class: "text" }, question.lines.join(" ")) : h("p", { class: "muted" }, "Its text is not in the archive."),
        h("div", { class: "row" }, h("span", { class: "hint" }, "The judge is in doubt:"), share(question.relevance, question.is_relevant), h("span", { class: "hint" }, `${plural(question.waiting, "waiting link")} on it`)),
        question.words.length ? h("div", { class: "chips" }, question.words.map((word) => h("span", { class: "chip plain" }, word))) : null,
        h("h3", {}, `Is this a page you want${crawl.title ? `: ${crawl.title}` : ""}?`),
        h("div", { class: "answers" },
          h("button", { class: "main", type: "button", onclick: doing(() => answer("relevant")) }, "Yes, useful"), h("button", { type: "button", onclick: doing(() => answer("irrelevant")) }, "No"), h("button", { class: "quiet", type: "button", onclick: doing(() => answer("skipped")) }, "Skip"),
          place ? h("button", { class: "quiet", type: "button", onclick: doing(back) }, "Back") : null, h("button", { class: "quiet", type: "button", onclick: () => openCard(crawl.id, question.number) }, "See all of it"))));
  }

  async function answer(said) {
    const question = questions[place];
    await post(crawlPath(crawl.id, `/pages/${question.number}/answer`), { answer: said });
    if (said !== "skipped") {
      given.push(question);
      pending.push({ question, said });
    }
    place += 1;
    show();
  }

  async function back() {
    place -= 1;
    await post(crawlPath(crawl.id, `/pages/${questions[place].number}/answer`), { answer: "withdrawn" });
    if (given.includes(questions[place])) pending.push({ question: questions[place], said: "withdrawn" });
    given.splice(given.indexOf(questions[place]), given.includes(questions[place]) ? 1 : 0);
    show();
  }

  let busy = false;
  const onKey = async (event) => {
    if (event.target.matches("input, textarea, select") || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const wanted = KEYS[event.key] ? () => answer(KEYS[event.key]) : event.key === "b" && place ? back : null;
    if (!wanted || busy || (!questions[place] && event.key !== "b")) return;
    event.preventDefault();
    busy = true;
    try {
      await wanted();
    } catch (error) {
      say(error.message, true);
    } finally {
      busy = false;
    }
  };
  let version = -1;
  const listener = async (figures) => {
    if (figures.version === version && !figures.is_learning) return;
    if (figures.version !== version) putDown(figures);
    version = figures.version;
    const answered = before ? before.answered + given.length : 0;
    if (before) showChanges({ relevant: figures.relevant, answered, pages: figures.pages, is_learning: figures.is_learning });
  };
  document.addEventListener("keydown", onKey);
  listen(listener);
  await load();
  return () => {
    document.removeEventListener("keydown", onKey);
    unlisten(listener);
  };
}
