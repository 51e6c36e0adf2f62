"""How good a crawl was: metrics as pure functions over what was fetched, in order, and pictures of them.

runs          the nouns: Run, Truth, Scores, Comparison
curves, similarity, cohesion, overlap, cost, spread      the metrics, a family a file, each with its formula
measure       all runs of one topic → Scores
summary       all topics → mean ± standard error, ratios, the table of final figures
significance  paired tests between strategies
pictures, page, report                                   something to read
"""
