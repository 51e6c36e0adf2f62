// Questions to the server. An error is one sentence, which is shown as it is.

async function checked(response) {
  if (response.ok) return response;
  let words = `${response.status} ${response.statusText}`;
  try {
    words = (await response.json()).error ?? words;
  } catch {
    // not JSON: the status must do
  }
  throw new Error(words);
}

function withQuery(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

export async function get(path, query) {
  return (await checked(await fetch(withQuery(path, query)))).json();
}

export async function getBytes(path, query) {
  return (await checked(await fetch(withQuery(path, query)))).arrayBuffer();
}

async function sent(path, body) {
  return checked(await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) }));
}

export const post = async (path, body) => (await sent(path, body)).json();

/** Saves an answer as a file. */
export async function save(path, { query, body, name }) {
  const response = body ? await sent(path, body) : await checked(await fetch(withQuery(path, query)));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const crawlPath = (id, rest = "") => `/api/crawls/${encodeURIComponent(id)}${rest}`;

/** Figures of a crawl as they change. Returns a function that ends it. */
export function follow(id, onFigures, onTrouble = () => {}) {
  const source = new EventSource(crawlPath(id, "/stream"));
  source.addEventListener("figures", (event) => onFigures(JSON.parse(event.data)));
  source.addEventListener("trouble", (event) => onTrouble(JSON.parse(event.data).error));
  source.onerror = () => onTrouble("the connection to the dashboard is lost; trying again");
  return () => source.close();
}
