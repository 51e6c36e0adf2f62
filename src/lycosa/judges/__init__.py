"""What is relevant: judges turn a page, an anchor or a URL into a number in [0, 1].

    protocol            what a judge is, and what it may declare about itself
    table               judges and classifiers by name, and those of other people
    keywords            the cosine to a few words (paper TC)
    contrast            learns from words, examples and the crawl what a topic is and is not; the default
    background          how common words are in general

Judges trained on the examples of a taxonomy:

    taxonomy            the tree of topics, and which of them are good; `taxonomy_file` reads it from TOML
    classifier          what a classifier is
    bayes, svm, knn, weighted_keywords          the classifiers
    tfidf, labels, calibration, saved_arrays    what they share
    topic_judges        a judge made of a classifier: for good topics (paper FC), or for a formula (paper AR)
    formula             formulas over topics; `generalise` makes wider ones, `interest` offers them to tunnelling
"""
