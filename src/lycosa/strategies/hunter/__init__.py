"""The hunter, the default strategy: it scores links by all that is known about them, and learns as it crawls.

hunter            the strategy: when links are scored, and which scores the frontier hears of
notes             what it takes from a page, and what it keeps of a visit for a resumed crawl
tables            the columns it keeps for links, citations and pages; the names of the features
evidence          what speaks for a link, pooled over all pages that cite it
sums, features    the compiled loops of `evidence`: what is added up, and how features and scores follow from it
learner           from features to a score: the weights that ship, and what the crawl teaches about them
predictions       what was predicted for each page and what it turned out to be, for the forecast
fixed_relevance   stands in for a study of the topic where another judge decides relevance
"""
