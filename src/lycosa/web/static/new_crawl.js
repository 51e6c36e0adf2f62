// A new crawl by a form, which says what it understood before anything is fetched; all settings with their explanations.

import { get, post } from "./api.js";
import { count, doing, h, put, say } from "./dom.js";
import { dropArea } from "./drop.js";

export async function newCrawlView(main, how = "") {
  const found = await get("/api/settings");
  const topics = await get("/api/topics").catch(() => ({ topics: [] }));
  const field = {
    words: h("textarea", { rows: 2, placeholder: "recreational cycling and touring bicycles", name: "words" }),
    interest: h("textarea", { rows: 2, class: "code", placeholder: "tourism AND (Ruegen OR Usedom) AND NOT camping", name: "interest" }),
    topics: h("select", { multiple: true, size: 6, name: "topics" }, topics.topics.map((topic) => h("option", { value: topic.path, selected: topic.is_good }, topic.path + (topic.is_good ? " ★" : "")))),
    seeds: h("textarea", { rows: 4, placeholder: "https://example.org/cycling\nhttps://…", name: "seeds" }),
    metasearch: h("input", { type: "checkbox", name: "metasearch" }),
    engines: h("textarea", { rows: 2, class: "code", placeholder: "searxng=https://searx.example.org", name: "engines", "aria-label": "Search engines" }),
    sites: h("textarea", { rows: 2, class: "code", placeholder: "example.org", name: "sites" }),
    include: h("textarea", { rows: 2, class: "code", placeholder: "docs.example.org/guide/*", name: "include" }),
    exclude: h("textarea", { rows: 2, class: "code", placeholder: "/tag/*", name: "exclude" }),
    depth: h("input", { type: "number", min: 0, value: 0, name: "depth" }),
    languages: h("input", { type: "text", placeholder: "en de", name: "languages" }),
    pages: h("input", { type: "number", min: 1, value: 1000, name: "pages" }),
    relevant: h("input", { type: "number", min: 0, value: 0, name: "relevant" }),
    minutes: h("input", { type: "number", min: 0, value: 0, step: "any", name: "minutes" }),
    contact: h("input", { type: "text", placeholder: "you@example.org", name: "contact" }),
    name: h("input", { type: "text", placeholder: "named after the topic", name: "name" }),
  };
  let bookmarks = "";
  let about = how === "topics" ? "topics" : "words";
  const answer = h("div", { "aria-live": "polite" });
  const aboutArea = h("div");
  const choices = h("div", { class: "choices", role: "group", "aria-label": "How the topic is given" });
  const drop = dropArea("Drop a file here, or ", (text, name) => {
    bookmarks = text;
    put(drop, `${name}: ${count(text.length)} characters. `, h("button", { type: "button", class: "small", onclick: () => { bookmarks = ""; drop.rest(); } }, "Remove"));
  });
  const settings = h("div");

  function showAbout() {
    const kinds = { words: "In words", topics: "Topics of the book", formula: "A formula" };
    put(choices, Object.entries(kinds).map(([kind, name]) => h("button", { type: "button", class: "small", "aria-pressed": String(kind === about), onclick: () => { about = kind; showAbout(); } }, name)));
    put(aboutArea, about === "words" ? h("label", {}, "What should the pages be about?", field.words, h("small", {}, "A few words or a sentence. Leave it empty to look for pages like the seeds.")) : about === "formula" ? h("label", {}, "Formula over topics of the book", field.interest, h("small", {}, "AND, OR, NOT and parentheses.")) : topics.topics.length ? h("label", {}, "Topics", field.topics, h("small", {}, "Pages on these or on what is below them are relevant. Without seeds it starts from their examples.")) : h("p", { class: "notice" }, "The topic book is empty. ", h("a", { href: "#/topics" }, "Make topics first"), ", or say it in words."));
  }

  const form = () => ({
    words: about === "words" ? field.words.value.trim() : "",
    interest: about === "formula" ? field.interest.value.trim() : "",
    topics: about === "topics" ? [...field.topics.selectedOptions].map((option) => option.value) : [],
    seeds: field.seeds.value,
    bookmarks,
    metasearch: field.metasearch.checked,
    engines: field.metasearch.checked ? field.engines.value : "",
    sites: field.sites.value,
    include: field.include.value,
    depth: Number(field.depth.value) || 0,
    languages: field.languages.value,
    relevant: Number(field.relevant.value) || 0,
    exclude: field.exclude.value,
    pages: Number(field.pages.value) || 1000,
    minutes: Number(field.minutes.value) || 0,
    contact: field.contact.value.trim(),
    name: field.name.value.trim(),
    settings: changedSettings(settings),
  });

  const understand = doing(async () => {
    try {
      showUnderstood(answer, await post("/api/crawls/understand", form()), begin);
    } catch (error) {
      put(answer, h("div", { class: "notice bad", role: "alert" }, error.message));
    }
    answer.scrollIntoView({ block: "nearest", behavior: "smooth" });
  });

  const begin = doing(async () => {
    const started = await post("/api/crawls", form());
    say("it is being started; the first page takes a few seconds");
    await arrival(started.id);
    location.hash = `#/crawl/${encodeURIComponent(started.id)}`;
  });

  const engines = h("label", { hidden: true }, "Search engines", field.engines, h("small", {}, "One on each line: searxng=URL, opensearch=URL, brave=NAME_OF_VARIABLE, workspace=DIRECTORY, sitemaps. Empty: those of your settings (docs/metasearch.md)."));
  field.metasearch.addEventListener("change", () => { engines.hidden = !field.metasearch.checked; });
  const part = (words) => h("h2", { class: "wide part" }, words);
  put(settings, found.sections.map(sectionOf));
  showAbout();
  put(main, h("div", {}, h("h1", {}, "New crawl"), h("p", { class: "muted" }, "Say what you are looking for, and where to start. Nothing is fetched before you have seen what was understood.")),
    h("form", { class: "card form", onsubmit: (event) => event.preventDefault() },
      h("div", { class: "wide stack" }, choices, aboutArea),
      part("Where to start"),
      h("label", {}, "Pages of the kind", field.seeds, h("small", {}, "A URL on each line: three to ten are best.")),
      h("div", { class: "stack" }, h("span", { class: "label" }, "Bookmarks, as browsers export them"), drop,
        h("label", { class: "line" }, field.metasearch, "Ask search engines, too; then no page is needed"), engines),
      part("Where to go"),
      h("label", {}, "Stay on these sites", field.sites, h("small", {}, "With their subdomains, one on each line; empty: anywhere.")),
      h("label", {}, "Leave out", field.exclude, h("small", {}, "Patterns such as /tag/* or ads.example.org.")),
      h("label", {}, "Stay within", field.include, h("small", {}, "Patterns such as *.example.org or example.org/docs/*, besides the sites.")),
      h("div", { class: "pair" }, h("label", {}, "Links away", field.depth, h("small", {}, "From the nearest start; 0: any number.")), h("label", {}, "Languages", field.languages, h("small", {}, "Other pages are not kept; empty: any."))),
      part("When to stop"),
      h("div", { class: "pair" }, h("label", {}, "Pages", field.pages, h("small", {}, "It stops after this many.")), h("label", {}, "Relevant pages", field.relevant, h("small", {}, "0: no limit."))), h("label", {}, "Minutes", field.minutes, h("small", {}, "0: no limit.")),
      part("About it"),
      h("label", {}, "Your contact", field.contact, h("small", {}, "Site owners see it in the User-Agent.")), h("label", {}, "Name", field.name, h("small", {}, "Of its directory.")),
      h("details", { class: "wide" }, h("summary", {}, "All settings"), h("p", { class: "hint" }, "Change what you need; the rest stays as it is."), settings),
      h("div", { class: "wide row" }, h("button", { class: "main", type: "button", onclick: understand }, "What would it do?"), h("a", { class: "button", href: "#/" }, "Cancel"))),
    answer);
}

function showUnderstood(place, plan, begin) {
  put(place, h("section", { class: "understood" }, h("h2", {}, "This is what was understood"),
    h("ul", {}, plan.sentences.map((words) => h("li", {}, words)), h("li", {}, "It lives in ", h("code", {}, plan.directory), ".")),
    plan.seeds.length ? h("p", {}, "It starts from: ", plan.seeds.map((seed, at) => [at ? ", " : "", h("code", {}, seed)]), plan.seed_count > plan.seeds.length ? ` and ${count(plan.seed_count - plan.seeds.length)} more` : "", ".") : null,
    plan.refused_seeds.length ? h("p", { class: "bad" }, `Turned away by its own rules: ${plan.refused_seeds.join(", ")}`) : null,
    plan.notes.map((note) => h("p", { class: "warn" }, `Note: ${note}.`)),
    h("details", {}, h("summary", {}, "Every setting in force"), h("pre", { class: "text mono", tabindex: "0" }, plan.toml)),
    h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: begin }, "Start the crawl"))));
}

async function arrival(id) {
  for (let tries = 0; tries < 60; tries += 1) {
    const found = await get("/api/crawls");
    if (found.crawls.some((crawl) => crawl.id === id)) return;
    const failed = found.starting.find((crawl) => crawl.state === "failed" && crawl.directory.endsWith(`/${id}`));
    if (failed) throw new Error(failed.why || "the crawl did not start");
    await new Promise((done) => setTimeout(done, 500));
  }
}

const ASKED_ABOVE = new Set(["topic", "topics", "interest", "seeds"]);

function sectionOf(section) {
  const shown = section.settings.filter((setting) => section.name || !ASKED_ABOVE.has(setting.name));
  return h("details", {}, h("summary", {}, section.name || "General", section.purpose ? h("span", { class: "hint" }, ` · ${section.purpose}`) : null),
    shown.map((setting) => {
      const id = `set-${section.name}-${setting.name}`;
      return h("div", { class: "setting" }, h("label", { for: id }, setting.name, control(section.name, setting, id)), h("p", {}, setting.text.replaceAll("`", "")));
    }));
}

function control(section, setting, id) {
  const isFlag = typeof setting.default === "boolean";
  const form = isFlag ? { type: "checkbox", checked: setting.default } : typeof setting.default === "number" ? { type: "number", step: "any", placeholder: String(setting.default) } : { type: "text", placeholder: typeof setting.default === "string" ? setting.default : JSON.stringify(setting.default) };
  return h("input", { ...form, id, "data-section": section, "data-name": setting.name, "data-default": JSON.stringify(setting.default) });
}

function changedSettings(place) {
  const changed = {};
  for (const input of place.querySelectorAll("input[data-name]")) {
    const usual = JSON.parse(input.dataset.default);
    let value;
    if (input.type === "checkbox") { if (input.checked === usual) continue; value = input.checked; }
    else if (input.value === "") continue;
    else value = typeof usual === "number" ? Number(input.value) : typeof usual === "string" ? input.value : parsed(input.value);
    if (input.dataset.section) (changed[input.dataset.section] ??= {})[input.dataset.name] = value;
    else changed[input.dataset.name] = value;
  }
  return changed;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text.split(/[\s,]+/).filter(Boolean);
  }
}
