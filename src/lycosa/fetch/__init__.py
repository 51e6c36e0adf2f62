"""From a URL to the bytes behind it, politely and safely.

    urls           one spelling for one document; rules reject what is not worth fetching
    plain_hrefs    joins the hrefs for which nothing has to be parsed
    registrable    the domain that the owner of a host pays for
    url_patterns   the user's include and exclude patterns
    robots         what a site asks of crawlers (RFC 9309)
    politeness     when a host may be contacted again, and when it is set aside
    dns            resolves names to addresses
    guard          which addresses may be contacted
    access         how the crawler gets in: through which `proxy`, and with which secrets of `logins` and `cookie_file`;
                   `private_file` reads them
    signing        signed requests, by which a site can tell that they are ours (Web Bot Auth)
    http           many requests at once through libcurl; `transfer` is one of them, with its limits
    request        one request as libcurl is told of it
    kept_connections   whether something waits on a connection that is to be used again
    decode         removes the content encoding, within limits
    conditions     asks for a page only if it has changed since it was last fetched
    headers        what Location and Retry-After mean
    robots_request   asks for robots.txt, one step at a time, and follows it to other hosts without rushing them
    fetcher        from a lease to an answer: cache, robots.txt, guard and http in the right order
    browser        renders pages that are empty without scripts, in a chromium that has no network
    requisites     what such a page asks for, under the rules of the crawl; `rendered`: the page with what came of it
    archive        keeps what came over the wire as WARC files, and repairs them after a crash
    archive_target finished files are handed over to another place
    archive_places opens a file of the archive, wherever it is
    warc_writer, warc_reader    write and read WARC records
    cache          pages shared between crawls

A redirect is an outcome: its target waits in the frontier like any other link. `urls`, `url_patterns`, `robots` and
`politeness` are pure. Every rejected URL has a named reason.
"""
