"""How good a crawl was: metrics as pure functions over what was fetched, in order, and pictures of them.

runs                                                   the nouns: Run, Truth, Scores, Comparison
curves, similarity, cohesion, overlap, cost, spread    the metrics, a family per file, each with its formula
measure                                                all runs of one topic become Scores
summary                                                all topics: mean ± standard error, ratios, the final table
significance                                           paired tests between strategies
pictures, page, report                                 something to read
"""
