"""Synthetic webs with planted topics: the same plan gives the same web, and the true relevance of pages is known.

plan                the settings
sites, graph        hosts with their sections and topics; the links
addresses           names of hosts and URLs of pages
vocabulary, prose   words, and text made of them
html                the pages as documents
web                 the web itself
server              serves it over HTTP on loopback
"""
