"""Libraries that know nothing of crawling: text today, graphs and evolution to come.

What stands here could be lifted out and used elsewhere: no URL, no page, no host.
"""
