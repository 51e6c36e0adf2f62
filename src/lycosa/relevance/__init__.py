"""What is relevant: judges turn a page, an anchor or a URL into a number in [0, 1].

`judge.py` is the protocol, `keywords.py` the simplest judge.
"""
