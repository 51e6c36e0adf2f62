"""Libraries that know nothing of crawling: no URL, no page, no host.

text, stopwords, wordhash   words: cutting, stemming, counting; words as 16-bit numbers
near_duplicates             texts that are nearly the same as an earlier one, by fingerprint
hashindex, growing          large maps and arrays that grow
linkgraph                   PageRank and HITS
evolve                      a genetic algorithm
compiled                    numba, loaded when needed
parquet                     rows into Parquet
bounds, nearest             checks of settings; "did you mean"
plugins                     `module:Class` and entry points
clock                       time as a value that is handed in
"""
