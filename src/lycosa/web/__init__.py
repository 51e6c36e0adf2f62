"""The dashboard: see a crawl and steer it, from a browser. `lycosa dashboard` and `lycosa crawl --dashboard` start it.

It reads stores through read-only connections, and writes nothing but answers, commands and the topic book. A crawl that
is started here runs as a process of its own: the dashboard may die, the crawl goes on.

    server        the application: routes, files of the page, events; running it
    doorkeeper    who may ask: Host, Origin, token, and the headers of every response
    endpoints     one endpoint of the API: checked input, JSON out, errors as one sentence
    openapi       the API described by its own endpoints
    crawls        which crawls there are, in what state, and what they are told
    control       the list of crawls, a new one, pause, resume, stop
    starting      a new crawl: what is understood of a form
    processes     the processes that run crawls
    watch         one crawl while somebody looks: a dot per page, figures, events, kept up to date
    dots          dots as bytes; many of them as a histogram
    pages         the card of a page: text with the words that decided, path, near-duplicates, answers
    review        the pages to ask a person about
    queue         what comes next and why; raise, drop, exclude, undo
    results       pages by their words, relevance, host, language, date; export
    sql           queries within limits
    topics        the topic book
    sites         hubs, authorities, sites, distances, the graph of the relevant pages
    alarms        thresholds that are watched, and what was raised
    laboratory    reports of comparisons and evolutions
    metrics       figures for Prometheus
    learning      what people said is learned by a process of its own
    indexing      pages are indexed for searching by a process of its own
    static        the page itself: HTML, CSS, ES modules; no build step, nothing from elsewhere

Crawled text is hostile: it leaves here as JSON only, and the page puts it into text nodes only.
"""
