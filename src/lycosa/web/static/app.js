// The frame: which view is shown, the way between views, light and dark.

import { h, put } from "./dom.js";
import { crawlsView } from "./crawls.js";
import { newCrawlView } from "./new_crawl.js";
import { crawlView } from "./crawl.js";
import { topicsView } from "./topics.js";
import { laboratoryView } from "./laboratory.js";

const PLACES = [["#/", "Crawls"], ["#/new", "New crawl"], ["#/topics", "Topics"], ["#/lab", "Laboratory"]];
const main = document.getElementById("main");
let leave = () => {};
let shown = "";
let view = null;

function route() {
  if (location.hash === "#main") return;
  document.querySelectorAll("dialog").forEach((box) => box.close());
  const [place, ...rest] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/").map(decoded);
  if (place === "crawl" && shown === `crawl/${rest[0]}`) {
    view.dispatchEvent(new CustomEvent("tab", { detail: rest[1] || "monitor" }));
    return;
  }
  leave();
  leave = () => {};
  // A view that is still being made when it is left writes into a place that nobody sees any more.
  const here = h("div", { class: "view" }, h("p", { class: "loading" }, "Loading…"));
  view = here;
  put(main, here);
  shown = place === "crawl" ? `crawl/${rest[0]}` : place;
  const views = {
    "": () => crawlsView(here),
    new: () => newCrawlView(here, rest[0]),
    topics: () => topicsView(here, rest.join("/")),
    lab: () => laboratoryView(here, rest[0]),
    crawl: () => crawlView(here, rest[0], rest[1] || "monitor"),
  };
  Promise.resolve((views[place] ?? views[""])()).then((end) => {
    if (typeof end !== "function") return;
    if (view === here) leave = end;
    else end();
  }).catch((error) => put(here, h("div", { class: "notice bad", role: "alert" }, error.message)));
  const current = PLACES.some(([href]) => href === `#/${place}`) ? `#/${place}` : "#/";
  put(document.querySelector(".places"), PLACES.map(([href, name]) => h("a", { href, "aria-current": href === current ? "page" : null }, name)));
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function paint(theme) {
  document.documentElement.dataset.theme = theme;
  window.dispatchEvent(new Event("theme"));
}

const dark = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
try {
  chosen = localStorage.getItem("theme");
} catch {
  // storage is not allowed: the system's choice is taken
}
paint(chosen ?? (dark.matches ? "dark" : "light"));
dark.addEventListener("change", () => chosen === null && paint(dark.matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () => {
  chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    // as above
  }
  paint(chosen);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", route);
if (location.search) history.replaceState(null, "", `/${location.hash}`); // the token does not stay in the address
route();
