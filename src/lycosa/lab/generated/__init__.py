"""Made-up webs with planted topics: the same plan gives the same web, and its true relevance is known.

plan                the settings
sites, graph        hosts with their sections and topics; who links to whom
addresses           the names of hosts and the URLs of pages
vocabulary, prose   words, and text made of them
html                the pages as documents
web                 the web itself
server              serves it over HTTP on loopback
"""
