"""Where to go next.

The frontier holds the links that wait, and hands out the best one whose host may be asked now. Its story, from
the inside out:

- `keys`: a link and its score are one 64-bit number; the smallest is the next.
- `host_queue`: the waiting links of one host, sorted, 8 bytes each.
- `schedule`: which hosts are ready, which cool, which stand at the gate of a shared address.
- `links`: state, score and host of every link, 9 bytes each.
- `frontier`: the four together: push, lease, done, release.

Around it: `strategy` is the protocol of strategies and `strategies` their table, one file each; `wrapped`, `focus`,
`tunnelling` and `current_list` are put around others; `rescoring` scores all waiting links again; `stop` and `standing`
say when to end, and why.

Strategies decide what a link is worth; the frontier only keeps their order. A link is a number here. URLs are in
the store, and everything the frontier knows can be loaded from there again.
"""
