"""Crawls of a recorded web by the crawl's own loop, and strategies compared on equal terms (paper TC).

replay           the parts that differ from a live crawl: visits, commit and clock
distilling       hubs and authorities of a replayed crawl, and what is fetched first because of them
person           who answers a replayed crawl's questions: the labels
tasks            topics as tasks: targets, seeds, keywords, description
trained_judges   the judges of a comparison by name, and those trained on a few labelled pages of a world
search           search engines over a world, each with a part of it
look_ahead       the upper bound: an order that knows which links are relevant and where each path leads
oracle           an order that knows only which waiting links are relevant
compare          every strategy on every task, measured
manifest         what a comparison was made of: code, world, constants
"""
