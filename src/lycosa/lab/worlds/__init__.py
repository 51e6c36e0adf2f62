"""Recorded webs in one file each: graph, words, anchors, labels.

build       from WARC files and labels, or from a generated web, to a world file
own_crawl   a crawl of one's own, with what its judge said, as a source of a world
writer      writes the file
container   one file of named arrays, mapped into memory
world       the file, opened
lazy        parts of it that are decoded on first use
info        statistics of a world
"""
