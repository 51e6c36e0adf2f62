"""The hunter, the default strategy: it scores links by all available evidence, and learns as it crawls.

hunter            the strategy: when links are scored, and which scores are passed on to the frontier
notes             what it needs of a page, and what it stores of a visit for a resumed crawl
tables            its columns for links, citations and pages; the names of the features
evidence          the evidence for a link, pooled over all pages that cite it
guesses           home pages and folders to try though no page links to them
loops             the loops of `evidence`: in C, by numba, or in Python
sums, features    their reference: sums over visits; features and scores computed from them
learner           from features to a score: built-in weights, and their adjustment during the crawl
predictions       the prediction and the result for each page, for the forecast
fixed_relevance   replaces a study of the topic if another judge decides relevance
"""
