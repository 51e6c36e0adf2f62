"""How good a crawl was: metrics as pure functions of the pages fetched, in order, and pictures of them.

runs                                                   the data: Run, Truth, Scores, Comparison
curves, similarity, cohesion, overlap, cost, spread    the metrics, one family per file, each with its formula
measure                                                from all runs of one topic to Scores
summary                                                over all topics: mean ± standard error, ratios, the final table
significance, student_t                                paired tests between strategies; intervals of their means
pictures, page, report                                 the report
trec                                                   runs and truth for other tools
"""
