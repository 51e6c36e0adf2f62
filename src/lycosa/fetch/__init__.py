"""From a URL to the bytes behind it, politely and safely.

    urls           one spelling for one document; rules turn away what is not worth a fetch
    url_patterns   the user's own include and exclude patterns
    robots         what a site asks of crawlers (RFC 9309)
    politeness     when a host may be asked again, and when it is not asked at all
    dns            names to addresses
    guard          which addresses may be talked to
    http           requests through libcurl, many at once; `transfer` is one of them, with its bounds
    decode         takes the content encoding off, under caps
    fetcher        a lease becomes an answer: robots, guard, cache and http in the right order
    archive        what came over the wire, as WARC, and what is cut off after a crash
    warc_writer, warc_reader    single records
    cache          pages shared between crawls

A redirect is an outcome: its target waits in the frontier like any other link. `urls`, `url_patterns`, `robots` and
`politeness` are pure. A URL that is turned away anywhere has a named reason.
"""
