"""Crawl strategies bred by a genetic algorithm on recorded webs (paper GA).

    task          what strategies are tried on: a world, a judge that guides the crawls, labels that grade them, seeds
    link_arrays   the world as arrays
    kernel        crawls with the evolved rank, compiled; `simulator` keeps its arrays between crawls
    encoding      which strategy a genome encodes
    fitness       how good its crawls are
    choosing      which of the strategies bred is kept, by other crawls; what it is worth on a third set of them
    rivals        random search and CMA-ES, with as many trials
    checkpoint    the files of an evolution: its population, its history, its winner

The genetic algorithm itself is `lib.evolve`. tests/lab/evolve/test_kernel.py proves that the kernel downloads the same
pages in the same order as `crawl.loop` with the strategy itself: that makes its results evidence.
"""
