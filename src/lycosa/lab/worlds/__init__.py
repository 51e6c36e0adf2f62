"""Recorded webs in one file each: graph, words, anchors, labels.

build       from WARC files and labels, or from a generated web, to a world file
writer      writes the file
container   one file of named arrays, mapped into memory
world       the file, opened
lazy        parts of it that are decoded on first use
info        statistics of a world
"""
