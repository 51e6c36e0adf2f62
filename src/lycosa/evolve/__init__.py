"""Crawl strategies evolved on recorded webs (paper GA).

`web` turns a world and its judge's verdicts into arrays, `simulator` crawls them with the evolved rank
(`frontier.evolved`), compiled (`kernel`), `spelling` says which strategy a genome is, `fitness` how good its crawls
were, and `lib.evolve` does the evolving.

tests/evolve/test_kernel.py proves that the kernel downloads the same pages in the same order as `crawl.run` does with
the strategy itself: only because of that is its result evidence.
"""
