"""The queue of waiting links, which hands them out best first, as far as politeness allows.

    keys         encodes a link, its tier and its score as one 64-bit number; the smallest is next
    host_queue   the waiting links of one host, sorted, 8 bytes each
    schedule     which hosts are ready, cooling, or waiting for a shared address
    links        state, tier, score and host of every link, 10 bytes each
    patience     whether a better link on a resting host is worth waiting for
    view         what can be asked without changing anything: counts, states, scores, the best links
    frontier     combines them: push, lease, done, release

Strategies decide what a link is worth; the frontier only keeps their order. Links are represented by their numbers.
Their URLs are in the store, from which the frontier can be rebuilt.
"""
