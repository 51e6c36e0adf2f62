"""Crawls of a recorded web by the crawl's own loop, and strategies compared on equal terms (paper TC).

replay           the parts that differ from a live crawl: visits, commit and clock
tasks            topics as tasks: targets, seeds, keywords, description
trained_judges   judges trained on a few labelled pages of a world
oracle           the bound that knows which waiting links are relevant
look_ahead       the higher bound that also knows where each way leads
compare          every strategy on every topic, measured
"""
