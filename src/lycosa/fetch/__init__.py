"""From a URL to the bytes behind it, politely and safely.

A URL passes these stations, each a module that knows nothing of the crawl around it:

    urls        one spelling for one document; rules turn away what is not worth a fetch
    robots      what the site asks of crawlers (RFC 9309)
    politeness  when its host and its address may be asked again
    guard       which addresses may be talked to, and how much may come back
    http        the request itself, through libcurl, redirects hop by hop through all of the above
    archive     what came over the wire, kept as WARC

`urls` and `robots` are pure: values in, values out. A URL turned away anywhere has a named reason.
"""
