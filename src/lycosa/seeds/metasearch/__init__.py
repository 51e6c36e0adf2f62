"""Search engines asked side by side: where a crawl starts that has no seeds, and what helps one that has run dry
(paper GP, section 4: the top 10 of several engines, combined, join the queue).

    settings       which engines there are, and how often they are asked
    queries        what is looked for: the topic's words, then the most distinctive words of what was found
    engine         what an engine is, and what comes of asking it; rubbish is an outcome like any other
    json_apis      engines that answer in JSON: SearXNG, Brave, Mojeek, and others by description
    open_search    engines that describe themselves (OpenSearch) and answer in RSS, Atom or suggestions
    site_lists     lists of a site's URLs: sitemaps, and indexes of web archives (CDX)
    panel          all engines asked at once, each with its own delay and daily quota
    fusion         one list out of many

Nothing here opens a connection or knows the store: what fetches, and what the crawl knows, is handed in (`live.py`,
`crawl/searching.py`), so that recorded webs have engines, too (`lab/replay/search.py`).
"""
