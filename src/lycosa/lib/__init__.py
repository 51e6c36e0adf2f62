"""Libraries that know nothing about crawling: no URLs, pages or hosts.

text, stopwords, wordhash   words: splitting, stemming, counting; words as 16-bit numbers
languages                   which stemmer a language has
near_duplicates, minhash    near-duplicates: of earlier texts by their fingerprints; clusters by their shingles
hashindex, growing          large maps and arrays that grow
snapshot                    what an object knows, as a file of plain values and arrays
linkgraph                   PageRank and HITS
evolve, gp                  a genetic algorithm over bit strings; genetic programming over formulas
sparse                      sparse matrices: products, rows of length 1
half_rows, word_pieces      sums of rows of large tables; texts cut into the pieces that have word vectors
native                      modules written in C, where they were compiled: `_words`, `_sparse` and so on
compiled                    machine code by numba
extras                      packages that only some commands need
safe_xml, media_types       items of XML from untrusted sources; media types of lists
parquet                     writes rows as Parquet
bounds, nearest             range checks of settings; "did you mean"
bounded_file                reads a file that may be a pipe or a device
plugins                     `module:Class` and entry points
clock                       time as a dependency: the real clock, and a virtual one
memory                      gives memory that was freed back to the system; looks for garbage less often
algebra                     linear algebra on one core
"""
