"""Which link to fetch next: strategies are told visits and asked for links.

    protocol      what a strategy is, and what it may declare about itself
    table         strategies by name, their constants, and those of other people
    saved_state   the bytes a strategy saves with each commit
    rescoring     scoring all waiting links again after the focus or the judge has changed

Rules that are put around another strategy, such as `hard+best-first`:

    wrapper       passes everything on to the strategy inside
    focus         hard focus (paper FC) and decay (paper GP)
    tunnelling    widens and narrows the focus (paper AR); `topic_figures` tells which topic is the rarer

The strategies themselves are in `hunter`, the default, and in `papers`.
"""
