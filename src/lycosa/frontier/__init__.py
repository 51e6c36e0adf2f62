"""The queue and nothing else: links that wait, handed out best first as far as politeness allows.

    keys         a link and its score are one 64-bit number; the smallest is the next
    host_queue   the waiting links of one host, sorted, 8 bytes each
    schedule     which hosts are ready, which cool, which wait for a shared address
    links        state, score and host of every link, 9 bytes each
    patience     whether a better link on a resting host is worth waiting for
    frontier     all of them together: push, lease, done, release

Strategies decide what a link is worth; the frontier only keeps their order. A link is a number here. URLs are in the
store, and everything the frontier knows can be loaded from there again.
"""
