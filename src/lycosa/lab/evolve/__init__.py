"""Crawl strategies bred by a genetic algorithm on recorded webs (paper GA).

    task          what strategies are tried on: a world, a judge that guides, labels that grade, seeds
    link_arrays   the world as arrays
    kernel        crawls with the evolved rank, compiled; `simulator` keeps what it needs between crawls
    encoding      which strategy a genome stands for
    fitness       how good its crawls were
    checkpoint    the directory an evolution lives in

`lib.evolve` does the evolving. tests/lab/evolve/test_kernel.py proves that the kernel downloads the same pages in the
same order as `crawl.loop` with the strategy itself, which is what makes its results evidence.
"""
