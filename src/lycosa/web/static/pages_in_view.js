// The dots of a crawl, fetched in chunks as they come into view, and fetched again when earlier pages were judged anew.

import { crawlPath, get, getBytes } from "./api.js";

export const CHUNK = 10_000;
const HEAD = 20; // bytes: version, first, count as uint32; the time of the first page as float64

export class Pages {
  constructor(id) {
    this.id = id;
    this.version = 0;
    this.count = 0;
    this.start = 0;
    this.chunks = new Map();
  }

  /** What the stream says: how many pages there are, and whether earlier ones have changed. */
  update({ pages, version }) {
    this.count = pages;
    if (version !== this.version) {
      this.version = version;
      this.stale = new Map(this.chunks);
      this.chunks.clear();
    }
  }

  /** The chunks between two pages; what is missing is fetched, and shown as it was until it is there. */
  async between(first, last) {
    const wanted = [];
    for (let key = Math.floor((first - 1) / CHUNK); key <= Math.floor((last - 1) / CHUNK); key += 1) wanted.push(key);
    const missing = wanted.filter((key) => (this.chunks.get(key)?.flags.length ?? 0) < Math.min(CHUNK, this.count - key * CHUNK));
    await Promise.all(missing.map((key) => this.load(key)));
    return this.known(first, last);
  }

  known(first, last) {
    const found = [];
    for (let key = Math.floor((first - 1) / CHUNK); key <= Math.floor((last - 1) / CHUNK); key += 1) {
      const chunk = this.chunks.get(key) ?? this.stale?.get(key);
      if (chunk) found.push(chunk);
    }
    return found;
  }

  async load(key) {
    const body = await getBytes(crawlPath(this.id, "/dots"), { first: key * CHUNK + 1, last: Math.min((key + 1) * CHUNK, this.count) });
    const head = new DataView(body, 0, HEAD);
    const first = head.getUint32(4, true);
    const count = head.getUint32(8, true);
    this.start = head.getFloat64(12, true);
    if (!count || first !== key * CHUNK + 1) return;
    const seconds = new Float32Array(body.slice(HEAD, HEAD + 4 * count));
    const relevance = new Uint16Array(body.slice(HEAD + 4 * count, HEAD + 6 * count));
    const flags = new Uint8Array(body, HEAD + 6 * count, count);
    this.chunks.set(key, { key, first, seconds, relevance, flags, version: head.getUint32(0, true) });
  }

  at(number) {
    const chunk = this.chunks.get(Math.floor((number - 1) / CHUNK));
    const place = number - (chunk?.first ?? 0);
    return chunk && place < chunk.flags.length ? { number, seconds: chunk.seconds[place], relevance: chunk.relevance[place] / 65535, flags: chunk.flags[place] } : null;
  }

  overview(query) {
    return get(crawlPath(this.id, "/overview"), query);
  }
}
