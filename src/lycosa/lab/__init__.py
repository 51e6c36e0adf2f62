"""The laboratory beside the crawler: webs whose truth is known, and what can be learned on them.

worlds      recorded webs, each in one file
generated   made-up webs with planted topics, and a server for them
replay      crawls of a world by the crawl's own loop; strategies compared on equal terms
evaluate    metrics, tests of significance, reports
evolve      strategies bred by a genetic algorithm (paper GA)
"""
