"""One page's way through the crawl, in the order in which to read it.

    lease → fetch → read → commit

    loop          the straight line itself, run by live, replayed and distributed crawls alike
    visits        fetch and read, many at a time: leases go in, visits come out
    reading       read: decode, parse, judge and expand one response; a pure function
    reader_pool   reading in processes that can be killed
    reader_process  such a process from within
    reader_requests  what it is sent: pages, whose bodies are in memory that both see
    reader_answers  what it sends back, checked
    reader_limits   what it may not do: outlive the crawl, take too long
    reader_confinement  and what it cannot: network, other processes, changes of files
    rendering     pages that come empty: rendered by a browser, or said to need one
    commit        a batch of visits becomes one transaction
    consequences  what follows from a visit: the link's fate, its page, the links on it
    visit_rows    a visit as rows of the store
    url_index     one number per URL, and how a link found on a page enters the frontier
    link_rules    which links are followed; shared with replays
    redirects     what becomes of the target of a redirect
    revisits      pages that are fetched again
    refresh       a run that looks at known pages again; change_rate says how often they change
    lists         feeds and sitemaps: what their links are worth, and sitemaps as a look ahead
    hosts         what is known of each host: its record, its clock, why it was set aside
    traps         places that take fetches and bring nothing, and hosts that hang readers
    resume        the state a crawl goes on from, loaded from the store
    furniture_state  what is known of the furniture of hosts, in the store
    snapshots     what the strategy knows, saved now and then, so that a resumed crawl need not be told all visits

A shard of a cluster, which is a crawl like any other but for this:

    shard         which links are its own; those of others leave with the page's transaction
    receiving     what other shards send is told to the strategy, and enters the frontier
    letters       what is sent, as bytes
    address_turns   an address that several shards have hosts at is asked by one of them at a time
    own_study     what a study says of the pages that this shard has fetched

Beside the line, after each turn of the loop:

    answers       what people say of pages, while it runs or before
    commands      what people ask of the crawl while it runs: pause, exclude, raise, stop
    alarms        thresholds that a person has set: speed, relevance, errors, disk, stall
    answers_file  answers that somebody wrote down
    questions     which pages to ask people about
    rejudge       a judge that learned, was retrained by feedback, or found its threshold takes over
    start_threshold  the minimum relevance that start pages decide (paper AR)
    certainty     how sure it is of what it says of its pages
    distiller     hubs and authorities (paper FC), and what is fetched first because of them;
                  centrality finds them, citation_graph holds who cites whom
    searching     search engines, asked at the start, every so many pages, and when nothing else is left;
                  found_pages enters what they name
    seeds         which seeds cannot start, and why; the end of a crawl that nothing can start
    clock_watch   the machine's clock was set, while the crawl ran or since
    stall         why nothing has been fetched for a while
    advice        what a person should know about a crawl that cannot go well as it was asked for
    relevant_pages  which pages to tell of as relevant, each once
    log_file      events as lines of JSON in the crawl's directory
    watching      events for listeners, and the handle by which a crawl is stopped
"""
