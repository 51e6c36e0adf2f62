// The judge of the topic book: train it, how good it is topic by topic, and what it confuses.

import { post } from "./api.js";
import { matrix } from "./charts.js";
import { count, day, doing, h, percent, say, share } from "./dom.js";

const MOST_CONFUSED = 12;

/** `trained` is told the book as it is then. */
export function judgeCard(book, trained) {
  const { report, judges } = book;
  const kind = h("select", { "aria-label": "Kind of judge" }, ["bayes", "svm", "knn", "keywords"].map((each) => h("option", { value: each }, each)));
  const latest = judges.at(-1);
  const good = book.topics.filter((topic) => topic.is_good);
  const train = doing(async () => {
    say("training; that may take a while");
    trained(await post("/api/topics/train", { kind: kind.value }));
    say("trained");
  });
  return h("section", { class: "card stack" }, h("div", { class: "row between" }, h("h2", {}, "The judge"), h("div", { class: "row" }, kind, h("button", { type: "button", disabled: !book.topics.length, onclick: train }, "Train"), good.length && latest ? h("a", { class: "button main", href: "#/new/topics" }, `Crawl for ${good.length === 1 ? good[0].path.split("/").pop() : `${good.length} good topics`}`) : null)),
    latest ? h("p", { class: "hint" }, `Version ${latest.version} (${latest.kind}), ${day(latest.trained_at)}.`) : h("p", { class: "muted" }, "Not trained yet: give two topics some examples each, then train."),
    report?.topics?.length ? quality(report) : null);
}

function quality(report) {
  return [h("p", {}, "Cross-validated on ", h("strong", {}, count(report.tested)), " examples: accuracy ", h("strong", {}, percent(report.accuracy)), ", macro-F1 ", h("strong", {}, report.macro_f1.toFixed(3)), "."),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Topic"), h("th", { class: "number" }, "Examples"), h("th", {}, "Precision"), h("th", {}, "Recall"))), h("tbody", {}, report.topics.map((row) => h("tr", {}, h("td", {}, row.topic), h("td", { class: "number" }, count(row.examples)), h("td", {}, share(row.precision, row.precision >= 0.8)), h("td", {}, share(row.recall, row.recall >= 0.8))))))),
    report.confusions?.length ? confusion(report.confusions) : h("p", { class: "hint" }, "It confuses none of them.")];
}

/** The topics that are confused most, each with each. */
function confusion(rows) {
  const names = [...new Set(rows.flatMap((row) => [row.topic, row.taken_for]))].slice(0, MOST_CONFUSED);
  const counts = names.map((topic) => names.map((other) => rows.find((row) => row.topic === topic && row.taken_for === other)?.count ?? 0));
  return h("div", {}, h("h3", {}, "What it confuses"), h("p", { class: "hint" }, "Number of examples of the topic at the left that were taken for the one at the top."), matrix(names, counts, { corner: "is \\ taken for" }));
}
