"""One run of a crawl: put together, begun, run and ended, in this order.

    given      what the crawl hands to a run of it
    known      what the run goes on from: judge, strategy and seeds by the settings, and what the store knows
    line       the line itself: lease → fetch → read → commit
    beside     what stands beside the line, and looks after each turn of the loop
    whole      the run from beginning to end

`engine` is the door to it; nothing else comes in here.
"""
