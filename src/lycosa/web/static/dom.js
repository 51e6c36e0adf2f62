// Elements and words. Text from the web becomes text nodes and nothing else; addresses become links only if they are http.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "href") element.setAttribute("href", safeAddress(value));
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "disabled" || name === "hidden" || name === "selected") element[name] = Boolean(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false).map(asNode));
  return element;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

function safeAddress(address) {
  const text = String(address);
  return /^(https?:\/\/|#|\/api\/|\/static\/)/i.test(text) ? text : "#";
}

export function put(place, ...children) {
  place.replaceChildren(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false).map(asNode));
  return place;
}

/** A link to a page of the web, which gets to know nothing of us. */
export function outside(url, text = url) {
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
}

/** A short message, also for screen readers. */
export function say(words, isBad = false) {
  const line = h("p", { class: isBad ? "bad" : "" }, words);
  document.getElementById("said").append(line);
  setTimeout(() => line.remove(), isBad ? 9000 : 4500);
}

/** Runs what a button does; an error is said, and the button rests meanwhile. */
export function doing(action) {
  return async (event) => {
    const button = event.currentTarget;
    if (button && "disabled" in button) button.disabled = true;
    try {
      await action(event);
    } catch (error) {
      say(error.message, true);
    } finally {
      if (button && "disabled" in button) button.disabled = false;
    }
  };
}

const whole = new Intl.NumberFormat("en");
export const count = (value) => (value === null || value === undefined ? "–" : whole.format(Math.round(value)));
export const percent = (share, digits = 1) => (share === null || share === undefined ? "–" : `${(share * 100).toFixed(digits)} %`);
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function bytes(size) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = size || 0;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export const clock = (at) => (at ? new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }) : "");
export const day = (at) => (at ? new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short", hour12: false }) : "");

export function ago(at) {
  if (!at) return "";
  const seconds = Math.max(0, Date.now() / 1000 - at);
  if (seconds < 60) return "just now";
  for (const [size, name] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    if (seconds >= size) return `${plural(Math.floor(seconds / size), name)} ago`;
  }
  return "";
}

/** A bar for a share, with the number beside it. */
export function share(value, isGood = false, digits = 2) {
  const inner = h("i");
  inner.style.width = `${Math.round(Math.max(0, Math.min(1, value ?? 0)) * 100)}%`;
  return h("span", { class: "nowrap" }, h("span", { class: `bar${isGood ? " good" : ""}`, "aria-hidden": "true" }, inner), " ", value === null || value === undefined ? "–" : value.toFixed(digits));
}

export function empty(title, words, ...more) {
  return h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, words), ...more);
}

export const hostOf = (url) => {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
};
