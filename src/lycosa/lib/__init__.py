"""Libraries that know nothing about crawling: no URLs, pages or hosts.

text, stopwords, wordhash   words: splitting, stemming, counting; words as 16-bit numbers
languages                   which stemmer a language has
near_duplicates             recognises near-duplicates of earlier texts by their fingerprints
hashindex, growing          large maps and arrays that grow
snapshot                    what an object knows, as a file of plain values and arrays
linkgraph                   PageRank and HITS
evolve                      a genetic algorithm
compiled                    machine code by numba
parquet                     writes rows as Parquet
bounds, nearest             range checks of settings; "did you mean"
bounded_file                reads a file that may be a pipe or a device
plugins                     `module:Class` and entry points
clock                       time as a dependency: the real clock, and a virtual one
"""
