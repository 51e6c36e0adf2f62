"""A suite of hostile behaviours that any crawler can be sent through.

    python -m hostile.suite --crawler lycosa --crawler scrapy        # in tests/; or: make hostile

behaviour    what a behaviour is, and what answers are made of
checks       what a good crawler does, judged by the server's log and by the pages that the crawler kept
groups/      the table: one module for each group of behaviours
server       serves every behaviour under a host and an address of its own
crawlers/    the crawlers, each as a command that reads a task and writes pages
run          sends a crawler through a group
table        both columns of docs/hostile.md
"""
