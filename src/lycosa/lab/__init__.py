"""The laboratory: webs on which it is known which pages are relevant, and experiments on them.

worlds      recorded webs, each in one file
generated   synthetic webs with planted topics, and a server for them
replay      crawls of a world by the crawl's own loop; strategies compared on equal terms
evaluate    metrics, significance tests, reports
compare     `lycosa.compare`: a comparison in one call
evolve      strategies bred by a genetic algorithm (paper GA)
"""
